// Lines of a byte stream whose chunks end anywhere, also inside of a character: the watches of agent and plugin.
//
// Not by node:readline, which has no bound for a line that never ends, ends lines at U+2028 inside of JSON too, and gives half
// a line at the end of a stream that was cut off as if it were a whole one.

/** One object of etcd is at most 1.5 MiB by default; in JSON, with room. */
const maxLineBytes = 16 * 1024 * 1024;

export class LineSplitter {
	readonly #line: (line: string) => void;
	#pending: Buffer[] = [];
	#pendingBytes = 0;

	constructor(line: (line: string) => void) {
		this.#line = line;
	}

	push(chunk: Buffer): void {
		let start = 0;
		for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
			const rest = chunk.subarray(start, end);
			start = end + 1;
			this.#line(this.#take(rest));
		}
		if (start === chunk.length) return;
		this.#pending.push(chunk.subarray(start));
		this.#pendingBytes += chunk.length - start;
		if (this.#pendingBytes > maxLineBytes) {
			throw new RangeError(`Cannot read a line of more than ${maxLineBytes} bytes`);
		}
	}

	/** Whether bytes are left that no newline ended. */
	get unfinished(): boolean {
		return this.#pendingBytes > 0;
	}

	#take(rest: Buffer): string {
		if (this.#pendingBytes === 0) return rest.toString("utf8");
		const line = Buffer.concat([...this.#pending, rest]).toString("utf8");
		this.#pending = [];
		this.#pendingBytes = 0;
		return line;
	}
}

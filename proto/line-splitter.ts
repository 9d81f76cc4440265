// Splits a byte stream into lines. A chunk may end anywhere, even inside a character.
//
// node:readline does not fit, because it does not limit a line that never ends. It also ends lines at U+2028, which may be part of JSON. If
// the last line was cut off, it returns that line like a complete one.

/** An etcd object is at most 1.5 MiB by default. This leaves room for its JSON. */
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
			throw new RangeError(`cannot read a line of more than ${maxLineBytes} bytes`);
		}
	}

	/** Whether bytes are left after the last newline. */
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

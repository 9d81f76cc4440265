// Splits a byte stream into frames, each with its length before it: four bytes, big-endian, as Kubernetes' watches in protobuf have them.

/** An etcd object is at most 1.5 MiB by default. A frame of this size would be garbage. */
const maxFrameBytes = 16 * 1024 * 1024;
const headerBytes = 4;

export class FrameSplitter {
	readonly #frame: (frame: Buffer) => void;
	#pending: Buffer[] = [];
	#pendingBytes = 0;

	constructor(frame: (frame: Buffer) => void) {
		this.#frame = frame;
	}

	/** Throws RangeError for a frame that is too long. */
	push(chunk: Buffer): void {
		this.#pending.push(chunk);
		this.#pendingBytes += chunk.length;
		for (;;) {
			const length = this.#nextLength();
			if (length === undefined || this.#pendingBytes < headerBytes + length) return;
			const bytes = this.#joined();
			const end = headerBytes + length;
			this.#pending = end < bytes.length ? [bytes.subarray(end)] : [];
			this.#pendingBytes = bytes.length - end;
			this.#frame(bytes.subarray(headerBytes, end));
		}
	}

	/** Whether bytes are left after the last whole frame. */
	get unfinished(): boolean {
		return this.#pendingBytes > 0;
	}

	#nextLength(): number | undefined {
		if (this.#pendingBytes < headerBytes) return undefined;
		const [first] = this.#pending;
		const head = first && first.length >= headerBytes ? first : this.#joined();
		const length = head.readUInt32BE(0);
		if (length > maxFrameBytes) throw new RangeError(`cannot read a frame of ${length} bytes`);
		return length;
	}

	#joined(): Buffer {
		const [first] = this.#pending;
		if (first && this.#pending.length === 1) return first;
		const joined = Buffer.concat(this.#pending);
		this.#pending = [joined];
		return joined;
	}
}

// Records the frames that reach a terminal, with their sizes. A frame ends with the end of a synchronized output (mode 2026), not with a
// chunk of data.

const end = "\u001b[?2026l";

export interface SeenFrame {
	/** In milliseconds, by the caller's clock. */
	readonly at: number;
	/** Includes everything since the previous frame. */
	readonly bytes: number;
}

export class FrameLog {
	readonly frames: SeenFrame[] = [];
	#rest = "";

	see(data: string, at: number): void {
		const parts = (this.#rest + data).split(end);
		this.#rest = parts.pop() ?? "";
		for (const part of parts) this.frames.push({ at, bytes: Buffer.byteLength(part + end) });
	}

	between(from: number, to: number): readonly SeenFrame[] {
		return this.frames.filter(({ at }) => at >= from && at < to);
	}

	/** Returns the number of frames in each whole second between `from` and `to`. */
	perSecond(from: number, to: number): readonly number[] {
		const seconds = Array.from({ length: Math.floor((to - from) / 1_000) }, () => 0);
		for (const { at } of this.frames) {
			const second = Math.floor((at - from) / 1_000);
			if (seconds[second] !== undefined) seconds[second] += 1;
		}
		return seconds;
	}
}

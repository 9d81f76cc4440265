// Limits how many messages are read at the same time, and so what half-sent messages cost the agent. A message has up to 2 MB, but HTTP/2
// holds back all but 128 KB of it until it is read.

/** 2 MB each: 16 MB of the 120 MB that a working agent leaves of its limit of 224Mi. */
const maxReading = 8;
/** Half of them, so that one slow sender does not block all others. */
const maxReadingPerCaller = 4;
/** At most 128 KB each: 25 MB of the 120 MB. */
const maxWaiting = 192;
/** A plugin or a peer sends a member up to 24 requests at the same time, and acquires the Leases of all its budgets together. */
const maxWaitingPerCaller = 96;

interface Waiting {
	readonly caller: string;
	readonly start: () => void;
}

export class ReadingSlots {
	readonly #readingBy = new Map<string, number>();
	readonly #waiting: Waiting[] = [];
	#reading = 0;

	/**
	 * Calls `start` when the message may be read, immediately or later. The returned function frees the slot, or the place in line. Returns
	 * undefined if too many messages wait.
	 */
	take(caller: string, start: () => void): (() => void) | undefined {
		let state: "waiting" | "reading" | "over" = "waiting";
		const waiting: Waiting = {
			caller,
			start: () => {
				state = "reading";
				start();
			},
		};
		const end = (): void => {
			if (state === "waiting") this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
			if (state === "reading") this.#end(caller);
			state = "over";
		};
		if (this.#hasRoomFor(caller)) this.#begin(waiting);
		else if (this.#hasPlaceFor(caller)) this.#waiting.push(waiting);
		else return undefined;
		return end;
	}

	#hasRoomFor(caller: string): boolean {
		return this.#reading < maxReading && (this.#readingBy.get(caller) ?? 0) < maxReadingPerCaller;
	}

	#hasPlaceFor(caller: string): boolean {
		const theirs = this.#waiting.filter((waiting) => waiting.caller === caller);
		return this.#waiting.length < maxWaiting && theirs.length < maxWaitingPerCaller;
	}

	#begin({ caller, start }: Waiting): void {
		this.#reading++;
		this.#readingBy.set(caller, (this.#readingBy.get(caller) ?? 0) + 1);
		start();
	}

	#end(caller: string): void {
		this.#reading--;
		const left = (this.#readingBy.get(caller) ?? 1) - 1;
		if (left === 0) this.#readingBy.delete(caller);
		else this.#readingBy.set(caller, left);
		const next = this.#waiting.findIndex((each) => this.#hasRoomFor(each.caller));
		const [waiting] = next < 0 ? [] : this.#waiting.splice(next, 1);
		if (waiting) this.#begin(waiting);
	}
}

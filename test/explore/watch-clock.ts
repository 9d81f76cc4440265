// The clock of a simulated agent's watches. Their timers are separate steps, which move the process's clock and fire no other timer. So a
// pause before a watch is reopened wakes no round.
import type { Clock } from "../../agent/process/clock.ts";
import type { SimulatedClock, SimulatedTimer } from "./simulated-process.ts";

/** Longer than any pause, and shorter than the silence after which a streamed list is given up. */
const longestPauseMs = 5_000;

interface WatchTimer extends SimulatedTimer {
	readonly isPause: boolean;
}

export class WatchClock implements Clock {
	readonly #clock: SimulatedClock;
	readonly #timers = new Set<WatchTimer>();

	constructor(clock: SimulatedClock) {
		this.#clock = clock;
	}

	now(): number {
		return this.#clock.now();
	}

	wallSeconds(): number {
		return this.#clock.wallSeconds();
	}

	after(ms: number, callback: () => void): () => void {
		const timer = { at: this.#clock.now() + ms, callback, isPause: ms < longestPauseMs };
		this.#timers.add(timer);
		return () => void this.#timers.delete(timer);
	}

	/** Returns the timer that ends a pause before a watch is reopened. */
	nextPause(): SimulatedTimer | undefined {
		return this.#first(true);
	}

	/** Returns the timer that ends the time for which a streamed list can be silent. */
	nextSilence(): SimulatedTimer | undefined {
		return this.#first(false);
	}

	fire(timer: SimulatedTimer): void {
		for (const each of this.#timers) if (each === timer) this.#timers.delete(each);
		this.#clock.jump(Math.max(timer.at - this.#clock.now(), 0));
		timer.callback();
	}

	#first(isPause: boolean): SimulatedTimer | undefined {
		let first: SimulatedTimer | undefined;
		for (const timer of this.#timers) if (timer.isPause === isPause && !(first && first.at <= timer.at)) first = timer;
		return first;
	}
}

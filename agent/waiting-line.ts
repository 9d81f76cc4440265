// The fair line for a Lease that somebody else holds: first come, first served, and whoever is gone loses the place.
//
// What is guaranteed is order among those who wait here, nothing about safety: a caller that comes past the line (through
// another agent, or while this one restarts) only makes the wait longer.
import type { AcquireOptions, AcquireOutcome } from "../disruption/cluster.ts";
import type { Clock } from "./clock.ts";

type Held = Extract<AcquireOutcome, { kind: "held" }>;

/** One try for the Lease; `handover` where the caller has waited for it. `retryAfterMs`: when the holding ends at the latest. */
export type Attempt = (
	handover: boolean,
) => Promise<Exclude<AcquireOutcome, Held> | (Held & { readonly retryAfterMs: number })>;

interface Waiter {
	readonly options: AcquireOptions;
	wake: () => void;
}

/** The watch on Leases wakes the line; this is for when that watch is not alive. */
const longestNapMs = 1_000;

export class WaitingLine {
	readonly #clock: Clock;
	readonly #lines = new Map<string, Waiter[]>();

	constructor(clock: Clock) {
		this.#clock = clock;
	}

	/** How many wait for this Lease. */
	length(lease: string): number {
		return this.#lines.get(lease)?.length ?? 0;
	}

	/** Tries at once where nobody waits; waits its turn where `options.wait` says so. Rejects with the reason of its signal. */
	async acquire(lease: string, attempt: Attempt, options: AcquireOptions): Promise<AcquireOutcome> {
		const waiting = this.length(lease);
		let last: Held | undefined;
		if (waiting === 0) {
			const outcome = await attempt(false);
			if (outcome.kind === "acquired") return outcome;
			last = outcome;
		}
		if (!options.wait)
			return { ...(last ?? { kind: "held", holder: "", heldForMs: 0 }), position: this.length(lease) + 1 };
		return this.#wait(lease, attempt, options, last);
	}

	/** The Lease changed: whoever is next may try. */
	wake(lease: string): void {
		this.#lines.get(lease)?.[0]?.wake();
	}

	async #wait(
		lease: string,
		attempt: Attempt,
		options: AcquireOptions,
		last: Held | undefined,
	): Promise<AcquireOutcome> {
		const line = this.#lines.get(lease) ?? [];
		this.#lines.set(lease, line);
		const waiter: Waiter = { options, wake: () => undefined };
		line.push(waiter);
		let place: Held = last ?? { kind: "held", position: line.length, holder: "", heldForMs: 0 };
		try {
			for (;;) {
				options.signal.throwIfAborted();
				let napMs = longestNapMs;
				if (line[0] === waiter) {
					const outcome = await attempt(true);
					if (outcome.kind === "acquired") return outcome;
					place = outcome;
					napMs = Math.min(napMs, Math.max(outcome.retryAfterMs, 1));
				}
				options.signal.throwIfAborted();
				options.onQueued?.({ position: line.indexOf(waiter) + 1, holder: place.holder, heldForMs: place.heldForMs });
				await this.#nap(waiter, napMs);
			}
		} finally {
			line.splice(line.indexOf(waiter), 1);
			if (line.length === 0 && this.#lines.get(lease) === line) this.#lines.delete(lease);
			for (const other of line) other.wake();
		}
	}

	#nap(waiter: Waiter, ms: number): Promise<void> {
		const { promise, resolve } = Promise.withResolvers<void>();
		const cancel = this.#clock.after(ms, resolve);
		waiter.wake = resolve;
		waiter.options.signal.addEventListener("abort", () => resolve(), { once: true });
		return promise.finally(cancel);
	}
}

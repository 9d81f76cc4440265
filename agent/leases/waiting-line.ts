// Keeps a fair line for each Lease that another caller holds: first come, first served. A caller that has gone away loses its place.
//
// The line guarantees only the order of the callers that wait here, and nothing about safety. A caller that bypasses the line (through
// another agent, or while this one restarts) only makes the wait longer.
import type { AcquireOptions, AcquireOutcome } from "../../disruption/budget/cluster.ts";
import type { Clock } from "../process/clock.ts";

type Held = Extract<AcquireOutcome, { kind: "held" }>;

/**
 * Makes one attempt to get the Lease. `handover` is true if the caller stands in line for it. `retryAfterMs` is the time until the hold
 * ends, unless it is renewed.
 */
export type Attempt = (
	handover: boolean,
) => Promise<Exclude<AcquireOutcome, Held> | (Held & { readonly retryAfterMs: number })>;

interface Waiter {
	readonly signal: AbortSignal;
	/** Whether the caller was woken since its last attempt began. */
	woken: boolean;
	wake: () => void;
}

interface Line {
	readonly waiters: Waiter[];
	/** The holder of the Lease, as the last attempt found it, for all callers in the line. */
	held: { readonly holder: string; readonly heldForMs: number; readonly at: number };
}

/** The watch on Leases wakes the line. If that watch is dead, the first caller still tries again within this time. */
const longestNapMs = 1_000;

export class WaitingLine {
	readonly #clock: Clock;
	readonly #lines = new Map<string, Line>();

	constructor(clock: Clock) {
		this.#clock = clock;
	}

	length(lease: string): number {
		return this.#lines.get(lease)?.waiters.length ?? 0;
	}

	/**
	 * Tries immediately if the line is empty. If that fails, or the line is not empty, it waits its turn if `options.wait` is set, and
	 * otherwise returns its place. Rejects with the reason of `options.signal` if that aborts the wait.
	 */
	async acquire(lease: string, attempt: Attempt, options: AcquireOptions): Promise<AcquireOutcome> {
		const line = this.#lines.get(lease);
		if (line) {
			if (!options.wait) return this.#place(line, line.waiters.length + 1);
			return this.#wait(lease, line, attempt, options);
		}
		const outcome = await attempt(false);
		if (outcome.kind === "acquired") return outcome;
		const { holder, heldForMs } = outcome;
		if (!options.wait) return { kind: "held", holder, heldForMs, position: this.length(lease) + 1 };
		const joined = this.#lines.get(lease) ?? { waiters: [], held: { holder, heldForMs, at: this.#clock.now() } };
		this.#lines.set(lease, joined);
		return this.#wait(lease, joined, attempt, options);
	}

	/** Lets the next caller try, because the Lease changed. */
	wake(lease: string): void {
		const next = this.#lines.get(lease)?.waiters[0];
		if (next) wakeUp(next);
	}

	async #wait(lease: string, line: Line, attempt: Attempt, options: AcquireOptions): Promise<AcquireOutcome> {
		const waiter: Waiter = { signal: options.signal, woken: false, wake: () => undefined };
		line.waiters.push(waiter);
		try {
			for (;;) {
				options.signal.throwIfAborted();
				waiter.woken = false;
				let napMs = longestNapMs;
				if (line.waiters[0] === waiter) {
					const outcome = await attempt(true);
					if (outcome.kind === "acquired") return outcome;
					line.held = { holder: outcome.holder, heldForMs: outcome.heldForMs, at: this.#clock.now() };
					napMs = Math.min(napMs, Math.max(outcome.retryAfterMs, 1));
				}
				options.signal.throwIfAborted();
				options.onQueued?.(this.#place(line, line.waiters.indexOf(waiter) + 1));
				// A change during the attempt may have come too late for the attempt.
				if (!waiter.woken) await this.#nap(waiter, napMs);
			}
		} finally {
			line.waiters.splice(line.waiters.indexOf(waiter), 1);
			if (line.waiters.length === 0) this.#lines.delete(lease);
			for (const other of line.waiters) wakeUp(other);
		}
	}

	#place({ held }: Line, position: number): Held {
		const heldForMs = held.holder === "" ? 0 : held.heldForMs + this.#clock.now() - held.at;
		return { kind: "held", position, holder: held.holder, heldForMs };
	}

	async #nap(waiter: Waiter, ms: number): Promise<void> {
		const { promise, resolve } = Promise.withResolvers<void>();
		const cancel = this.#clock.after(ms, resolve);
		waiter.wake = resolve;
		waiter.signal.addEventListener("abort", waiter.wake, { once: true });
		await promise;
		cancel();
		waiter.signal.removeEventListener("abort", waiter.wake);
	}
}

function wakeUp(waiter: Waiter): void {
	waiter.woken = true;
	waiter.wake();
}

// A process of the simulation: a clock of its own, ids of its own, and a life that can end.
import { createHash } from "node:crypto";
import type { Clock } from "../../agent/process/clock.ts";
import { running } from "./await-points.ts";
import type { AwaitStops } from "./await-stops.ts";
import type { Step } from "./scheduler.ts";

export interface SimulatedTimer {
	readonly at: number;
	readonly callback: () => void;
}

/** Moves only when it is told to. Clocks of different processes agree on nothing. */
export class SimulatedClock implements Clock {
	#now = 0;
	readonly #timers = new Set<SimulatedTimer>();
	/** Asked for before every step: looked up again only after it was taken away. */
	#first: SimulatedTimer | undefined;
	/** Told before the clock moves. */
	beforeMove: (() => void) | undefined;

	now(): number {
		return this.#now;
	}

	after(ms: number, callback: () => void): () => void {
		const timer = { at: this.#now + ms, callback };
		this.#timers.add(timer);
		if (this.#first && timer.at < this.#first.at) this.#first = timer;
		return () => this.#remove(timer);
	}

	wallSeconds(): number {
		return 1_700_000_000 + Math.floor(this.#now / 1000);
	}

	/** Time passes and no timer fires: the process was busy, or stopped. */
	jump(ms: number): void {
		if (ms > 0) this.beforeMove?.();
		this.#now += ms;
	}

	/** The timer that is due first. */
	next(): SimulatedTimer | undefined {
		if (this.#first || this.#timers.size === 0) return this.#first;
		for (const timer of this.#timers) if (!this.#first || timer.at < this.#first.at) this.#first = timer;
		return this.#first;
	}

	fire(timer: SimulatedTimer): void {
		this.#remove(timer);
		if (timer.at > this.#now) this.beforeMove?.();
		this.#now = Math.max(this.#now, timer.at);
		timer.callback();
	}

	#remove(timer: SimulatedTimer): void {
		this.#timers.delete(timer);
		if (this.#first === timer) this.#first = undefined;
	}
}

export interface ProcessOptions {
	/** What each process learns is hashed, for an exhaustive search. */
	readonly keepsHistory: boolean;
	/** At which awaits processes stop; at none where undefined. */
	readonly stops?: AwaitStops | undefined;
}

export class SimulatedProcess {
	readonly name: string;
	readonly clock = new SimulatedClock();
	alive = true;
	/** It was stopped at an await: nothing of it happens until it goes on. */
	isStopped = false;
	/** At which awaits this run stops processes. */
	readonly stops: AwaitStops | undefined;
	/** What may happen to it again and again: told before every step, and made once. */
	readonly offered = new Map<object, Step>();
	#timer: { readonly timer: SimulatedTimer; readonly step: Step } | undefined;
	/** Its ids begin with its name, in characters that agents take. */
	readonly #idPrefix: string;
	#ids = 0;
	/** Whether `history` is kept: only an exhaustive search asks for it. */
	readonly #keepsHistory: boolean;
	#history = "";

	constructor(name: string, options: ProcessOptions) {
		this.name = name;
		this.#idPrefix = name.replace("/", ":");
		this.stops = options.stops;
		this.#keepsHistory = options.keepsHistory;
	}

	/** Unique in the world, and the same in every run in which this process did the same so far. */
	newId(): string {
		this.#ids += 1;
		return `${this.#idPrefix}.${this.#ids}`;
	}

	/** Its clock moves to its next timer. */
	timerStep(): Step | undefined {
		const timer = this.clock.next();
		if (!timer || this.isStopped) return undefined;
		if (this.#timer?.timer !== timer) this.#timer = { timer, step: this.#stepTo(timer) };
		return this.#timer.step;
	}

	#stepTo(timer: SimulatedTimer): Step {
		const run = (): void => {
			this.learns(() => `timer ${timer.at}`);
			running.run(this, () => this.clock.fire(timer));
		};
		return { kind: "timer", actor: this.name, what: `a timer of ${timer.at} ms`, run };
	}

	/** Notes what the process has been told. Its code is deterministic: equal histories, equal memories. */
	learns(what: () => string): void {
		if (this.#keepsHistory) this.#history = createHash("sha1").update(this.#history).update(what()).digest("base64");
	}

	fingerprint(): string {
		return `${this.name} ${this.alive} ${this.clock.now()} ${this.#history}`;
	}
}

/** Shorter than any message takes: it passes at once, so that who collects for a moment is no slower than others. */
const momentMs = 10;

/** Resolves after `ms` of the clock, or at once when the signal aborts. */
export async function sleepOn(clock: SimulatedClock, ms: number, signal: AbortSignal): Promise<void> {
	if (signal.aborted || ms <= 0) return;
	if (ms <= momentMs) {
		clock.jump(ms);
		return;
	}
	const { promise, resolve } = Promise.withResolvers<void>();
	const cancel = clock.after(ms, resolve);
	const aborted = (): void => resolve();
	signal.addEventListener("abort", aborted);
	await promise;
	cancel();
	signal.removeEventListener("abort", aborted);
}

// A process of the simulation, with its own clock and ids. It can die.
import { createHash } from "node:crypto";
import type { Clock } from "../../agent/process/clock.ts";
import { running } from "./await-points.ts";
import type { AwaitStops } from "./await-stops.ts";
import type { Step } from "./scheduler.ts";

export interface SimulatedTimer {
	readonly at: number;
	readonly callback: () => void;
}

/** A clock that moves only when told to. The clocks of different processes are independent. */
export class SimulatedClock implements Clock {
	#now = 0;
	readonly #timers = new Set<SimulatedTimer>();
	/** The timer that is due first. Kept, so that it is not searched for before every step. Undefined if it must be searched for. */
	#first: SimulatedTimer | undefined;
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

	/** Lets time pass without firing a timer, as if the process were busy or stopped. */
	jump(ms: number): void {
		if (ms > 0) this.beforeMove?.();
		this.#now += ms;
	}

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
	/** Whether everything that a process learns is hashed, for an exhaustive search. */
	readonly keepsHistory: boolean;
	/** Undefined: processes stop at no await. */
	readonly stops?: AwaitStops | undefined;
}

export class SimulatedProcess {
	readonly name: string;
	readonly clock = new SimulatedClock();
	alive = true;
	/** The process was stopped at an await, and does nothing until it is resumed. */
	isStopped = false;
	readonly stops: AwaitStops | undefined;
	/** Steps that can happen again and again. Kept, so that they are not made anew before every step. */
	readonly offered = new Map<object, Step>();
	#timer: { readonly timer: SimulatedTimer; readonly step: Step } | undefined;
	/** The name of the process, in characters that agents accept. */
	readonly #idPrefix: string;
	#ids = 0;
	readonly #keepsHistory: boolean;
	#history = "";

	constructor(name: string, options: ProcessOptions) {
		this.name = name;
		this.#idPrefix = name.replace("/", ":");
		this.stops = options.stops;
		this.#keepsHistory = options.keepsHistory;
	}

	/** Returns an id that is unique in the world, and the same in every run in which this process did the same so far. */
	newId(): string {
		this.#ids += 1;
		return `${this.#idPrefix}.${this.#ids}`;
	}

	/** Returns the step in which the clock moves to the next timer. Undefined if there is none, or if the process is stopped. */
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

	/** Records what the process has been told, if the run needs that. Its code is deterministic, so equal histories mean equal memories. */
	learns(what: () => string): void {
		if (this.#keepsHistory) this.#history = createHash("sha1").update(this.#history).update(what()).digest("base64");
	}

	fingerprint(): string {
		return `${this.name} ${this.alive} ${this.clock.now()} ${this.#history}`;
	}
}

/**
 * Sleeps up to this length pass at once. A message takes longer, so a process that collects requests for a moment is no slower than others.
 */
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

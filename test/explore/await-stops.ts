// Stops processes at awaits, as SIGSTOP, a page fault or a blocking write would. A stopped process does nothing until it is resumed, and
// then its clock has moved on.
import type { Step } from "./scheduler.ts";

export interface StoppableProcess {
	readonly name: string;
	readonly alive: boolean;
	isStopped: boolean;
	readonly clock: { jump(ms: number): void };
	readonly stops: AwaitStops | undefined;
}

export interface PlannedStop {
	/** For example "drain-1 disruption/round/round.ts:5". */
	readonly where: string;
	readonly nth: number;
	readonly ms: number;
}

/** Returns the stop that is planned for a process at a place. Called at most once for each pair. */
export type StopPlan = (where: string) => PlannedStop | undefined;

interface Place {
	readonly planned: PlannedStop | undefined;
	/** Counted only if a stop is planned. */
	passed: number;
}

interface StandingStop {
	readonly process: StoppableProcess;
	readonly planned: PlannedStop;
	readonly goOn: () => void;
}

/**
 * The longest stops outlast a Lease, a grant and a list of budgets. Two stops together can outlast the 20 s in which a count can be
 * committed.
 */
const longestStopMs = 18_000;
/** A run meets 100 to 300 pairs of process and place, so about two of them stop. */
const chancePerPlace = 0.012;
const mostStops = 4;

/**
 * Draws for each place, with the same chance, whether the process stops there, and at which occurrence. So a rare await is stopped almost
 * as often as a frequent one.
 */
export function drawnStops(random: () => number): StopPlan {
	return (where) => {
		if (random() >= chancePerPlace) return undefined;
		const nth = random() < 0.6 ? 1 : 1 + Math.floor(random() * 5);
		return { where, nth, ms: Math.floor(random() * longestStopMs) };
	};
}

/** Plans the stops of an earlier run. */
export function knownStops(stops: readonly PlannedStop[]): StopPlan {
	return (where) => stops.find((stop) => stop.where === where);
}

export class AwaitStops {
	readonly made: PlannedStop[] = [];
	readonly #plan: StopPlan;
	readonly #spares: (process: StoppableProcess) => boolean;
	/** By process and place. */
	readonly #places = new Map<string, Map<string, Place>>();
	readonly #standing = new Set<StandingStop>();

	constructor(plan: StopPlan, spares: (process: StoppableProcess) => boolean = () => false) {
		this.#plan = plan;
		this.#spares = spares;
	}

	findStop({ name }: StoppableProcess, place: string): PlannedStop | undefined {
		if (this.made.length >= mostStops) return undefined;
		let places = this.#places.get(name);
		if (!places) this.#places.set(name, (places = new Map()));
		let known = places.get(place);
		if (!known) places.set(place, (known = { planned: this.#plan(`${name} ${place}`), passed: 0 }));
		const { planned } = known;
		if (!planned) return undefined;
		known.passed += 1;
		return known.passed === planned.nth ? planned : undefined;
	}

	/** Resolves when the process is resumed; at once for a process that is dead or spared. */
	async stop(process: StoppableProcess, planned: PlannedStop): Promise<void> {
		if (!process.alive || this.#spares(process)) return;
		const { promise, resolve } = Promise.withResolvers<void>();
		this.made.push(planned);
		this.#standing.add({ process, planned, goOn: resolve });
		process.isStopped = true;
		await promise;
	}

	addSteps(steps: Step[]): void {
		for (const stop of this.#standing) {
			const { process, planned } = stop;
			if (!process.alive) {
				this.#standing.delete(stop);
				continue;
			}
			const run = (): void => {
				this.#standing.delete(stop);
				process.isStopped = [...this.#standing].some((other) => other.process === process);
				process.clock.jump(planned.ms);
				stop.goOn();
			};
			const place = planned.where.slice(process.name.length + 1);
			steps.push({ kind: "jump", actor: process.name, what: `goes on at ${place} after ${planned.ms} ms`, run });
		}
	}
}

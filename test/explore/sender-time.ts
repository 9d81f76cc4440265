// Records what was true at each time of a sender's own clock, for the judge's excuses.
import type { SimulatedProcess } from "./simulated-process.ts";

export interface Moment {
	readonly step: number;
	/** Index of the config that held. */
	readonly config: number;
	/** By cluster: the config up to which every living agent knew the budgets. */
	readonly known: readonly number[];
	/** By cluster: the pod revision that its slowest view had reached. */
	readonly views: number[];
}

/** Longer than every age for which asOf() is called. Older moments are dropped. */
const keptMs = 120_000;

export class SenderTime {
	readonly #now: () => Moment;
	readonly #moments = new Map<SimulatedProcess, { readonly at: number; readonly moment: Moment }[]>();

	constructor(now: () => Moment) {
		this.#now = now;
	}

	/** Records a moment whenever the clock of this process is about to move. */
	follow(process: SimulatedProcess): void {
		const kept: { readonly at: number; readonly moment: Moment }[] = [];
		this.#moments.set(process, kept);
		process.clock.beforeMove = () => {
			const at = process.clock.now();
			while (kept[1] && kept[1].at < at - keptMs) kept.shift();
			kept.push({ at, moment: this.#now() });
		};
	}

	/** Returns the last moment at which the clock showed at most `at`. Undefined if no such moment was recorded. */
	asOf(process: SimulatedProcess, at: number): Moment | undefined {
		return this.#moments.get(process)?.findLast((kept) => kept.at <= at)?.moment;
	}

	/** Limits the revision that the views of this cluster had reached, at all recorded moments. */
	limitViews(index: number, revision: number): void {
		for (const kept of this.#moments.values()) {
			for (const { moment } of kept) moment.views[index] = Math.min(moment.views[index] ?? 0, revision);
		}
	}
}

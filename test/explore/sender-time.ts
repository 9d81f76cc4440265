// What was so at a time of a sender's own clock: the judge's excuses end there.
import type { SimulatedProcess } from "./simulated-process.ts";

export interface Moment {
	readonly step: number;
	/** Index of the config that held. */
	readonly config: number;
	/** By cluster: up to which config every agent that was alive knew the budgets. */
	readonly known: readonly number[];
	/** By cluster: the pod revision that its slowest view had reached. */
	readonly views: number[];
}

/** Enough for every age that is asked about; older moments than this are dropped. */
const keptMs = 120_000;

export class SenderTime {
	readonly #now: () => Moment;
	readonly #moments = new Map<SimulatedProcess, { readonly at: number; readonly moment: Moment }[]>();

	constructor(now: () => Moment) {
		this.#now = now;
	}

	/** Notes a moment whenever the clock of this process is about to move. */
	follow(process: SimulatedProcess): void {
		const kept: { readonly at: number; readonly moment: Moment }[] = [];
		this.#moments.set(process, kept);
		process.clock.beforeMove = () => {
			const at = process.clock.now();
			while (kept[1] && kept[1].at < at - keptMs) kept.shift();
			kept.push({ at, moment: this.#now() });
		};
	}

	/** The last moment at which the clock showed no more than `at`; undefined where it always showed more. */
	asOf(process: SimulatedProcess, at: number): Moment | undefined {
		return this.#moments.get(process)?.findLast((kept) => kept.at <= at)?.moment;
	}

	/** A cluster came back from a backup: what its views had reached counts no further than that. */
	restored(index: number, revision: number): void {
		for (const kept of this.#moments.values()) {
			for (const { moment } of kept) moment.views[index] = Math.min(moment.views[index] ?? 0, revision);
		}
	}
}

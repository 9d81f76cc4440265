// Chooses the scenario that gets the next schedules. At first each scenario gets its floor. After that, scenarios that still bring new
// states for their time get more.
//
// The number of states that exactly one of n schedules met, divided by n, estimates how many new states the next schedule brings (Good and
// Turing). New states prove nothing, but schedules without new states only repeat earlier ones.

export interface SpendingOptions {
	/** The most schedules of all scenarios together. */
	readonly total: number;
	/** The least number of schedules for the scenario of this name, as far as the total allows. */
	readonly floorOf: (scenario: string) => number;
	readonly batch: number;
	/** Stops before the total if no scenario is expected to bring this many new states with a schedule. */
	readonly leastNew: number;
}

export interface Batch {
	readonly scenario: string;
	readonly from: number;
	readonly count: number;
}

export interface BatchResult {
	readonly schedules: number;
	readonly cpuMs: number;
	/** Hashes of the states that exactly one schedule of the batch met. `several` has the states that more than one met. */
	readonly once: Uint32Array;
	readonly several: Uint32Array;
}

export interface Spent {
	schedules: number;
	cpuMs: number;
	readonly seen: Set<number>;
	readonly seenOnce: Set<number>;
}

export function nothingSpent(): Spent {
	return { schedules: 0, cpuMs: 0, seen: new Set(), seenOnce: new Set() };
}

export class Spending {
	readonly #options: SpendingOptions;
	readonly #spent: ReadonlyMap<string, Spent>;
	/** The next schedule number of each scenario, after those of running batches. */
	readonly #next = new Map<string, number>();
	#given = 0;

	/** Continues from `spent`, and adds to it. */
	constructor(spent: ReadonlyMap<string, Spent>, options: SpendingOptions) {
		this.#options = options;
		this.#spent = spent;
		for (const [scenario, { schedules }] of spent) this.#next.set(scenario, schedules);
	}

	/** Returns the next batch. Undefined if enough is spent. */
	next(): Batch | undefined {
		const { total, batch, floorOf } = this.#options;
		const left = total - this.#given;
		if (left <= 0) return undefined;
		const below = this.#furthestBelow(floorOf);
		const scenario = below ?? this.#mostPromising();
		if (scenario === undefined) return undefined;
		const from = this.#next.get(scenario) ?? 0;
		const wanted = below === undefined ? batch : Math.min(batch, floorOf(scenario) - from);
		const count = Math.min(wanted, left);
		this.#next.set(scenario, from + count);
		this.#given += count;
		return { scenario, from, count };
	}

	took(scenario: string, { schedules, cpuMs, once, several }: BatchResult): void {
		const spent = this.#spent.get(scenario);
		if (!spent) throw new Error(`no schedules of ${scenario} were asked for`);
		spent.schedules += schedules;
		spent.cpuMs += cpuMs;
		for (const state of several) {
			spent.seen.add(state);
			spent.seenOnce.delete(state);
		}
		for (const state of once) {
			if (spent.seen.has(state)) spent.seenOnce.delete(state);
			else {
				spent.seen.add(state);
				spent.seenOnce.add(state);
			}
		}
	}

	/** Returns the scenario with the smallest share of its floor, so that all progress together. Undefined once all have their floors. */
	#furthestBelow(floorOf: (scenario: string) => number): string | undefined {
		let found: string | undefined;
		let least = 1;
		for (const [scenario, next] of this.#next) {
			const share = next / floorOf(scenario);
			if (share >= least) continue;
			least = share;
			found = scenario;
		}
		return found;
	}

	/** Returns the scenario that is expected to bring the most new states for its processor time. Undefined if none brings enough. */
	#mostPromising(): string | undefined {
		let found: string | undefined;
		let most = -1;
		for (const [scenario, spent] of this.#spent) {
			const fresh = newStatesOf(spent);
			if (fresh < this.#options.leastNew) continue;
			const schedules = Math.max(spent.schedules, 1);
			// Running batches count as spent. Otherwise one scenario would get everything until its first result.
			const underWay = (this.#next.get(scenario) ?? 0) / schedules;
			const worth = fresh / underWay / Math.max(spent.cpuMs / schedules, 0.01);
			if (worth <= most) continue;
			most = worth;
			found = scenario;
		}
		return found;
	}
}

/** Returns how many new states the next schedule is expected to bring. */
export function newStatesOf({ schedules, seenOnce }: Spent): number {
	return schedules === 0 ? Number.MAX_SAFE_INTEGER : seenOnce.size / schedules;
}

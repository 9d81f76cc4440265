// Records how many pods of each budget were healthy in this cluster over the last hour, to show people how long a budget has been in its
// state.
//
// The agent takes a sample at every full minute of the wall clock, so that samples of different members can be added up. Samples come from
// the views alone, so readers cost the API server nothing. If a watch is dead at that moment, or the moment was missed, the sample stays
// unknown. Each agent keeps its own samples, in memory only.
import type { BudgetName } from "../../disruption/budget/budget.ts";
import { GarbledLeaseError } from "../../disruption/errors.ts";
import { parseLease } from "../../disruption/lease/lease.ts";
import type { BudgetHistory } from "../../proto/agent-cluster.ts";
import { mostSamples } from "../../proto/wire-watch.ts";
import type { Clock } from "../process/clock.ts";
import type { PeriodicJob } from "../process/periodic-work.ts";
import type { BudgetView, LeaseView } from "../views/object-views.ts";
import type { PodView } from "../views/pod-view.ts";
import { isCountedHealthy } from "../../disruption/budget/healthy.ts";
import { WatchedBudgets } from "./watched-budgets.ts";
import type { WatchedState } from "./watched-state.ts";

export interface BudgetHistoriesOptions {
	readonly pods: Pick<PodView, "pods" | "live">;
	readonly leases: Pick<LeaseView, "find" | "live">;
	readonly budgets: Pick<BudgetView, "budgets" | "live">;
	readonly clock: Clock;
}

const everySeconds = 60;
/** A sample that is later than this does not belong to the full minute, for example because the process slept. */
const lateSeconds = 5;
const unseen = -1;

/** The samples of one budget: 240 bytes, and a little for the object. */
interface Track {
	readonly budget: BudgetName;
	/** Another selector counts other pods, so it starts another history. */
	readonly selector: string;
	/** Indexed by the minute since the epoch, modulo the array's length. */
	readonly healthy: Int32Array;
}

export class BudgetHistories {
	readonly #options: BudgetHistoriesOptions;
	readonly #states = new WatchedBudgets();
	readonly #tracks = new Map<string, Track>();
	readonly #listeners = new Set<() => void>();
	/** The minute of the last sample, in minutes since the epoch. */
	#step = Number.NEGATIVE_INFINITY;

	constructor(options: BudgetHistoriesOptions) {
		this.#options = options;
	}

	readonly job: PeriodicJob = {
		pauseMs: () => (everySeconds - (this.#options.clock.wallSeconds() % everySeconds)) * 1_000,
		pass: () => this.#advance(),
	};

	/** Calls back after each step. The returned function unsubscribes. */
	onLook(listener: () => void): () => void {
		this.#listeners.add(listener);
		return () => void this.#listeners.delete(listener);
	}

	/** Leaves out budgets without a sample. */
	all(wants: (namespace: string) => boolean): readonly BudgetHistory[] {
		return [...this.#tracks.values()].flatMap((track) => {
			if (!wants(track.budget.namespace)) return [];
			const healthy = this.#samples(track);
			const lastAt = this.#step * everySeconds;
			return healthy.length === 0 ? [] : [{ budget: track.budget, lastAt, everySeconds, healthy }];
		});
	}

	/** Returns the samples from the first known one on, the oldest first. */
	#samples({ healthy }: Track): readonly (number | undefined)[] {
		const samples: (number | undefined)[] = [];
		for (let step = this.#step - mostSamples + 1; step <= this.#step; step += 1) {
			const pods = healthy[step % mostSamples] ?? unseen;
			if (pods !== unseen || samples.length > 0) samples.push(pods === unseen ? undefined : pods);
		}
		return samples;
	}

	#advance(): void {
		const seconds = this.#options.clock.wallSeconds();
		const step = Math.floor(seconds / everySeconds);
		// This minute is done already, for example because the clock was set back a little.
		if (step === this.#step) return;
		// The clock was set back by more, so it is no longer known when the other samples were taken.
		if (step < this.#step) this.#tracks.clear();
		for (let cleared = Math.max(this.#step + 1, step - mostSamples + 1); cleared <= step; cleared += 1) {
			for (const { healthy } of this.#tracks.values()) healthy[cleared % mostSamples] = unseen;
		}
		this.#step = step;
		const { pods, leases, budgets } = this.#options;
		const isLate = seconds - step * everySeconds > lateSeconds;
		if (!isLate && pods.live && leases.live && budgets.live) this.#look();
		for (const listener of this.#listeners) listener();
	}

	#look(): void {
		const { changed, gone } = this.#states.align([...this.#options.budgets.budgets()], undefined);
		for (const { key } of gone) this.#tracks.delete(key);
		for (const state of changed) this.#follow(state);
		const looks = new Map<WatchedState, Look>();
		const namespaces = new Set<string>();
		for (const state of this.#states.all()) {
			const track = this.#tracks.get(state.key) ?? this.#follow(state);
			const reserved = track && this.#reserved(state);
			if (!reserved) continue;
			looks.set(state, { track, reserved, healthy: 0 });
			namespaces.add(state.name.namespace);
		}
		for (const namespace of namespaces) {
			for (const pod of this.#options.pods.pods(namespace)) {
				for (const state of this.#states.selecting(namespace, pod.labels)) {
					const look = looks.get(state);
					if (look && isCountedHealthy(pod, look.reserved)) look.healthy += 1;
				}
			}
		}
		for (const { track, healthy } of looks.values()) track.healthy[this.#step % mostSamples] = healthy;
	}

	/** Returns the budget's track, or a new one if its selector has changed. Undefined if its selector cannot be read. */
	#follow({ key, name, selector }: WatchedState): Track | undefined {
		const text = selector && JSON.stringify(selector);
		const before = this.#tracks.get(key);
		if (before?.selector === text) return before;
		this.#tracks.delete(key);
		if (text === undefined) return undefined;
		const track = { budget: name, selector: text, healthy: new Int32Array(mostSamples).fill(unseen) };
		this.#tracks.set(key, track);
		return track;
	}

	/** Returns the uids of the pods that are reserved in the budget's Lease. Undefined if the Lease cannot be read. */
	#reserved({ leaseName }: WatchedState): ReadonlySet<string> | undefined {
		const lease = this.#options.leases.find(leaseName);
		if (!lease) return none;
		try {
			const { reservations } = parseLease(lease).state;
			return reservations.length === 0 ? none : new Set(reservations.map(({ uid }) => uid));
		} catch (error) {
			if (error instanceof GarbledLeaseError) return undefined;
			throw error;
		}
	}
}

interface Look {
	readonly track: Track;
	readonly reserved: ReadonlySet<string>;
	healthy: number;
}

const none: ReadonlySet<string> = new Set();

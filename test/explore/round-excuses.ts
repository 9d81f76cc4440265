// Determines what a round could not know, and so where the judge's excuses begin and end.
import type { PodRecord } from "../../disruption/budget/pod.ts";
import type { ClusterSlot } from "./counted-pods.ts";
import type { KnownBudgets } from "./known-budgets.ts";
import { nonceOf } from "./lease-text.ts";
import { type Config, type Labels, matches } from "./oracle-config.ts";
import type { RoundRecord } from "./round-record.ts";
import type { Moment, SenderTime } from "./sender-time.ts";
import type { SimulatedCluster } from "./simulated-cluster.ts";
import type { Slot } from "./workload.ts";

/** The maximum age of a grant, or of the check of its budgets, when the eviction is sent, on the sender's clock. */
const freshForMs = 1_000;
/** The maximum age of the counts of a commit, on its sender's clock. Agents allow only 20 s, but by their own clocks. */
const countedWithinMs = 60_000;

export interface RoundExcusesOptions {
	readonly clusters: readonly SimulatedCluster[];
	readonly configs: readonly Config[];
	readonly budgets: KnownBudgets;
	readonly senders: SenderTime;
}

export class RoundExcuses {
	readonly #clusters: readonly SimulatedCluster[];
	readonly #configs: readonly Config[];
	readonly #budgets: KnownBudgets;
	readonly #senders: SenderTime;

	constructor({ clusters, configs, budgets, senders }: RoundExcusesOptions) {
		this.#clusters = clusters;
		this.#configs = configs;
		this.#budgets = budgets;
		this.#senders = senders;
	}

	/** Returns the moment up to which the counts of this round must know everything. Undefined if the round committed nothing. */
	countsOf({ process, committedAt }: RoundRecord): Moment | undefined {
		return committedAt === undefined ? undefined : this.#senders.asOf(process, committedAt - countedWithinMs);
	}

	/** Returns the moment up to which the written commit must know everything: a commit with older counts must not be accepted. */
	writeOf({ process, stoodAt }: RoundRecord): Moment | undefined {
		return stoodAt === undefined ? undefined : this.#senders.asOf(process, stoodAt - countedWithinMs);
	}

	/** Returns the moment up to which an eviction under this round's grant must know everything. A fresh grant knows what its counts knew. */
	grantOf(round: RoundRecord, sentAt: number): Moment | undefined {
		const { process, committedAt = sentAt } = round;
		const isFresh = sentAt - committedAt <= freshForMs;
		return isFresh ? this.countsOf(round) : this.#senders.asOf(process, sentAt - freshForMs);
	}

	indexOf(pod: PodRecord): number {
		return this.#clusters.findIndex((cluster) => cluster.slotOf(pod) !== undefined);
	}

	/** Returns the config at the first acquisition that the round's grants rest on. Everything is read after it. */
	configAt({ committed }: RoundRecord): number {
		const times = committed.flatMap(({ cluster, nonce }) => {
			const index = this.#clusters.findIndex(({ id }) => id === cluster);
			const unwrittenAt = this.#budgets.unwrittenAt(cluster, nonce);
			if (unwrittenAt !== undefined) return unwrittenAt;
			const own = this.#clusters[index]?.server.leaseEvents.filter(({ object }) => nonceOf(object) === nonce) ?? [];
			// A doubled request may have taken the Lease a second time. The latest acquisition counts.
			const latest = own.at(-1)?.object;
			const acquired = own.find(
				({ object: { uid, spec } }) => uid === latest?.uid && spec.leaseTransitions === latest.spec.leaseTransitions,
			);
			if (!acquired) return [];
			return this.#configs.findLastIndex(
				(config) => (config[index]?.revision ?? 0) <= Number(acquired.resourceVersion),
			);
		});
		return Math.max(Math.min(...times, this.#configs.length - 1), 0);
	}

	/** Returns the config from which on the member's count must have known a budget, although the round did not count under it. */
	knownFrom(budget: string, index: number, round: RoundRecord): number {
		const known = this.#budgets.ofRound(this.#clusters[index]?.id ?? "", round.committed) ?? round.config;
		const acquired = this.configAt(round);
		const isNamed = this.#configs.slice(known, acquired + 1).every((config) => config[index]?.budgets.has(budget));
		return isNamed ? Math.max(known, acquired) : known;
	}

	/** Returns the config in which the pod got its current labels. */
	labelledAt(pod: PodRecord): number {
		const index = this.indexOf(pod);
		const events = this.#clusters[index]?.server.podEvents.filter(({ object }) => object.uid === pod.uid) ?? [];
		const labels = JSON.stringify(pod.labels);
		const before = events.findLastIndex(({ object }) => JSON.stringify(object.labels) !== labels);
		const version = Number(events[before + 1]?.resourceVersion);
		const found = this.#configs.findIndex((config) => (config[index]?.revision ?? 0) >= version);
		return found < 0 ? this.#configs.length : found;
	}

	couldNotKnow({ down }: Slot, cluster: SimulatedCluster, budget: string, round: RoundRecord): boolean {
		if (!down) return false;
		const seen = this.seenBy(round, cluster);
		if (down.cause === "involuntary") return down.revision > seen;
		if (!down.by || down.by.round === round) return false;
		const by = down.by.round as RoundRecord;
		const granted = by.granted.get(down.by.uid);
		// The pod was evicted without a round while no budget covered it. To other rounds, it looks as if it had failed.
		if (!granted) return down.revision > seen;
		return !granted.includes(budget) && by.decidedAt > Math.max(round.startedAt, this.countsOf(round)?.step ?? 0);
	}

	/** Returns the pod revision up to which the round must know of every failure in the cluster. */
	seenBy(round: RoundRecord, cluster: SimulatedCluster): number {
		const since = this.countsOf(round)?.views[this.#clusters.indexOf(cluster)];
		return Math.max(round.viewsAt.get(cluster.id) ?? 0, since ?? 0);
	}

	/** Returns the pods that the budget no longer selects, but that this round may have counted, because a view had their old labels. */
	relabelledSince(budget: string, selector: Labels, round: RoundRecord): readonly string[] {
		return this.#clusters.flatMap((cluster) =>
			cluster.workloads.flatMap((workload) => {
				const since = this.seenBy(round, cluster);
				return workload.slots.flatMap((slot) => {
					const pod = workload.podIn(slot);
					if (!pod || matches(selector, pod.labels)) return [];
					if (slot.down && !this.couldNotKnow(slot, cluster, budget, round)) return [];
					const versions = cluster.server.podEvents.filter(({ object }) => object.uid === pod.uid);
					const first = versions.findLastIndex(({ resourceVersion }) => Number(resourceVersion) <= since);
					const seen = versions.slice(Math.max(first, 0));
					return seen.some(({ object }) => matches(selector, object.labels)) ? [`${cluster.id}/${pod.name}`] : [];
				});
			}),
		);
	}

	slots(selector: Labels): readonly ClusterSlot[] {
		return this.#clusters.flatMap((cluster) =>
			cluster.workloads.flatMap((workload) =>
				[...workload.slots, ...workload.retired]
					.filter((slot) => matches(selector, workload.podIn(slot)?.labels ?? workload.spec.labels))
					.map((slot) => ({ slot, cluster })),
			),
		);
	}
}

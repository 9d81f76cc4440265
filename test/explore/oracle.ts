// The judge: what is true, whatever anybody has counted.
//
// Promise under test: no set of rounds makes more pods unavailable than the budget allows for the counts they saw. It is
// judged at every eviction that a round has executed: over all clusters, the pods that are up after it must be at least
// the desired healthy, from the true scales of the controllers. Everything that a round caused counts, however late it
// was executed. Three things a round could not know are not held against it, and are added to what is up:
// - a pod that failed or was deleted past the budgets, unless every view of its cluster had seen it before the round
//   began (involuntary disruptions are counted as soon as the views show them, and not prevented); likewise one that got
//   other labels and is no longer the budget's;
// - a pod evicted by a round that was granted it under other budgets only, and after this round began (its labels, or
//   the budgets, changed between the two);
// - what budgets and scales said: of each member the least that it demanded at any time since the round's first
//   acquisition, because a change and a round at the same time may be put in either order, member by member. A budget
//   under which the round did not count is judged member by member from when the member's count had to know of it
//   (known-budgets.ts), whatever its caller had listed, and from the first acquisition where it was known all the time:
//   what it says is read after that. One that did not stand all that time is not checked. A pod that got other labels
//   since it was granted cannot have been evicted before: it is judged from then on.
// Where etcd came back from a backup, what is written from then on is newer than all that a view had seen of it.
// Where members change, a round is judged over a fleet that all its members declared at some time since it began.
// A pod that is evicted without a round must not be covered: there must be a member-by-member reading of the budgets by which
// nobody covers the labels that it has, between the first list that its sender asked for in the second before it sent the
// request (on its clock) and then; without such a list there is only what was true when it was sent.
// Where nothing fails and no budget changes, none of these exists and the sum is simply: up >= desired.
import type { PodRecord } from "../../disruption/pod.ts";
import type { RoundOutcome } from "../../disruption/round.ts";
import { KnownBudgets } from "./known-budgets.ts";
import { nonceOf, reservationsIn } from "./lease-text.ts";
import {
	type Config,
	configOf,
	configsFrom,
	type Labels,
	leastDesired,
	matches,
	ofFleet,
	selectorsOf,
} from "./oracle-config.ts";
import type { SimulatedCluster } from "./simulated-cluster.ts";
import type { SimulatedProcess } from "./simulated-process.ts";
import type { Slot } from "./workload.ts";

/** One round of one process, and what it can have known. */
export interface RoundRecord {
	readonly process: SimulatedProcess;
	readonly startedAt: number;
	readonly config: number;
	/** Acquisitions that it has committed, or tried to. */
	readonly committed: { readonly cluster: string; readonly nonce: string }[];
	/** How far the slowest view of each cluster was when it began. */
	readonly viewsAt: Map<string, number>;
	/** How many faults had happened. */
	readonly faults: number;
	/** Of its acquisitions and reservations. */
	readonly ids: string[];
	decidedAt: number;
	decidedConfig: number;
	/** Budgets under which it was granted each pod, by uid. */
	readonly granted: Map<string, readonly string[]>;
}

/** An eviction without a round, and which configs its sender can have gone by. */
export interface FreeEviction {
	readonly round: RoundRecord;
	readonly from: number;
	readonly to: number;
}

/** Whoever evicts without a round has asked all members for their budgets at most so long before, on its own clock. */
const listedWithinMs = 1_000;

export interface Violation {
	readonly rule: "budget" | "bypass" | "order" | "leak" | "liveness" | "bug";
	readonly message: string;
}

export interface OracleOptions {
	readonly clusters: readonly SimulatedCluster[];
	readonly step: () => number;
	readonly faults: () => number;
	readonly onViolation: (violation: Violation) => void;
}

export class Oracle {
	readonly #options: OracleOptions;
	/** After each change of budgets or scales. */
	readonly #configs: Config[] = [];
	/** Which budgets counts have to know of. */
	readonly budgets: KnownBudgets;
	/** When processes asked all members for their budgets, on their own clocks, and which config there was. */
	readonly #lists = new Map<SimulatedProcess, { readonly at: number; readonly config: number }[]>();
	readonly #rounds: RoundRecord[] = [];
	#evictions = 0;

	constructor(options: OracleOptions) {
		this.#options = options;
		this.budgets = new KnownBudgets(options.clusters, this.#configs);
	}

	/** Budgets, scales or labels are others from now on. */
	configChanged(): void {
		this.#configs.push(configOf(this.#options.clusters));
	}

	/** How many evictions rounds have had executed. */
	get evictions(): number {
		return this.#evictions;
	}

	roundStarts(process: SimulatedProcess): RoundRecord {
		const { clusters, step, faults } = this.#options;
		const round: RoundRecord = {
			process,
			startedAt: step(),
			config: this.#configs.length - 1,
			committed: [],
			viewsAt: new Map(clusters.map((cluster) => [cluster.id, cluster.slowestView()])),
			faults: faults(),
			ids: [],
			decidedAt: Number.POSITIVE_INFINITY,
			decidedConfig: Number.POSITIVE_INFINITY,
			granted: new Map(),
		};
		this.#rounds.push(round);
		return round;
	}

	/** Its etcd came back from a backup: what is written from now on has versions that views may have seen before. */
	restored({ id, server }: SimulatedCluster): void {
		for (const { viewsAt } of this.#rounds) viewsAt.set(id, Math.min(viewsAt.get(id) ?? 0, server.revision));
	}

	/** `outcome` undefined: the round rejected. */
	roundEnds(round: RoundRecord, outcome: RoundOutcome | undefined): void {
		round.decidedAt = this.#options.step();
		round.decidedConfig = this.#configs.length - 1;
		const verdicts = outcome?.kind === "decided" ? outcome.verdicts : [];
		for (const verdict of verdicts) {
			if (verdict.kind !== "granted") continue;
			round.granted.set(
				verdict.candidate.pod.uid,
				verdict.ticket.budgets.map(({ name }) => name),
			);
		}
		if (round.granted.size === 0 && this.#options.faults() === round.faults) this.#checkTakenBack(round);
	}

	/** A pod was evicted under a reservation of this round; `pod` as it was before. */
	evicted(cluster: SimulatedCluster, pod: PodRecord, round: RoundRecord): void {
		if (pod.terminating) return;
		this.#evictions += 1;
		const slot = cluster.slotOf(pod);
		if (!slot || slot.down) return;
		slot.down = { cause: "voluntary", revision: cluster.server.revision, by: { round, uid: pod.uid } };
		if (slot.workload.spec.kind === "Bare") slot.workload.emptied.add(slot);
		const now = configOf(this.#options.clusters);
		for (const { budget, selector } of selectorsOf(now)) {
			if (matches(selector, pod.labels)) this.#check(budget, selector, pod, round, now);
		}
	}

	/** The process asks all members for their budgets. */
	lists(process: SimulatedProcess): void {
		const asked = { at: process.clock.now(), config: this.#configs.length - 1 };
		this.#lists.set(process, [...(this.#lists.get(process) ?? []), asked]);
	}

	/** An eviction goes out for which nobody asked for a round. */
	sendsFreely(process: SimulatedProcess): FreeEviction {
		const now = process.clock.now();
		const young = this.#lists.get(process)?.find(({ at }) => now - at <= listedWithinMs);
		const to = this.#configs.length - 1;
		return { round: this.roundStarts(process), from: young?.config ?? to, to };
	}

	/** A pod was evicted for which nobody asked for a round: right only where no budget covers it. */
	evictedFreely(cluster: SimulatedCluster, pod: PodRecord, { round, from, to }: FreeEviction): void {
		if (pod.terminating || pod.finished) return;
		this.#evictions += 1;
		const slot = cluster.slotOf(pod);
		if (slot) slot.down ??= { cause: "voluntary", revision: cluster.server.revision, by: { round, uid: pod.uid } };
		const configs = this.#configs.slice(from, to + 1);
		const fleets = this.#fleetsAt(configs, pod);
		for (const { budget, selector } of configs.flatMap(selectorsOf)) {
			const isFree = (fleet: readonly string[]) =>
				leastDesired(ofFleet(configs, fleet), budget, selector) === undefined;
			if (!matches(selector, pod.labels) || fleets.some(isFree)) continue;
			this.#options.onViolation({
				rule: "bypass",
				message: `${round.process.name} has pod ${pod.name} evicted without a round, and budget ${budget} covers it`,
			});
		}
	}

	/** An eviction that a round was granted before this run began. */
	evictedBefore(cluster: SimulatedCluster, pod: PodRecord): void {
		cluster.server.evict(pod, { uid: pod.uid });
		const slot = cluster.slotOf(pod);
		if (slot) slot.down = { cause: "voluntary", revision: 0 };
	}

	/** How many more pods with these labels may go; 0 where no budget speaks of them. */
	room(labels: Labels): number {
		const now = configOf(this.#options.clusters);
		const rooms = selectorsOf(now).flatMap(({ budget, selector }) => {
			const desired = matches(selector, labels) ? leastDesired([now], budget, selector) : undefined;
			if (desired === undefined) return [];
			return this.#slots(selector).filter(({ slot }) => !slot.down).length - desired;
		});
		return rooms.length === 0 ? 0 : Math.min(...rooms);
	}

	fingerprint(): string {
		const slots = this.#options.clusters.flatMap(({ id, workloads }) =>
			workloads.flatMap(({ slots, spec }) =>
				slots.map(
					({ ordinal, pod, down }) => `${id}/${spec.name}-${ordinal} ${pod?.uid} ${down?.cause} ${down?.revision}`,
				),
			),
		);
		return slots.join("\n");
	}

	#check(budget: string, selector: Labels, pod: PodRecord, round: RoundRecord, now: Config): void {
		const { startedAt, decidedConfig } = round;
		const granted = round.granted.get(pod.uid);
		const counted = granted?.includes(budget) ?? false;
		const from = this.#options.clusters.map((_, index) => {
			if (!granted) return round.config;
			return counted ? this.#configAt(round) : this.#knownFrom(budget, index, round);
		});
		const labelledAt = granted && !counted ? this.#labelledAt(pod) : 0;
		const decided = configsFrom(this.#configs.slice(0, decidedConfig + 1), from);
		const all = [
			...configsFrom(
				this.#configs,
				from.map((own) => Math.max(own, labelledAt)),
			),
			now,
		];
		const shortfalls = this.#fleetsAt(this.#configs.slice(round.config), pod).map((fleet) => {
			if (leastDesired(ofFleet(decided, fleet), budget, selector) === undefined) return undefined;
			return this.#shortfall({
				budget,
				selector,
				round,
				fleet,
				desired: leastDesired(ofFleet(all, fleet), budget, selector),
			});
		});
		// Whatever fleet it was a round of, the budget does not allow it; or there was none on which its members agreed.
		if (shortfalls.includes(undefined)) return;
		const [shortfall = "no members agreed who the fleet is"] = shortfalls;
		this.#options.onViolation({
			rule: "budget",
			message:
				`${round.process.name} (round of step ${startedAt}) has pod ${pod.name} evicted, and budget ${budget} is ` +
				`broken: ${shortfall}`,
		});
	}

	/** How the members of this fleet break the budget; undefined where they do not. */
	#shortfall({
		budget,
		selector,
		round,
		fleet,
		desired,
	}: {
		readonly budget: string;
		readonly selector: Labels;
		readonly round: RoundRecord;
		readonly fleet: readonly string[];
		readonly desired: number | undefined;
	}): string | undefined {
		if (desired === undefined) return undefined;
		let up = 0;
		const excused: string[] = [];
		const down: string[] = [];
		for (const { slot, cluster } of this.#slots(selector)) {
			if (!fleet.includes(cluster.id)) continue;
			const name = `${cluster.id}/${slot.workload.spec.name}-${slot.ordinal}`;
			if (!slot.down) up += 1;
			else if (this.#couldNotKnow(slot, cluster, budget, round)) excused.push(name);
			else down.push(name);
		}
		if (up + excused.length >= desired) return undefined;
		excused.push(...this.#relabelledSince(budget, selector, round));
		if (up + excused.length >= desired) return undefined;
		const sum = `${up} up${excused.length > 0 ? ` and ${excused.join(", ")} excused` : ""}, ${desired} must be`;
		return `${sum}; down are ${down.join(", ")}`;
	}

	/** Fleets with this pod's cluster that each of their members has declared at one of these times. */
	#fleetsAt(configs: readonly Config[], pod: PodRecord): readonly (readonly string[])[] {
		const { clusters } = this.#options;
		const own = clusters.findIndex((cluster) => cluster.slotOf(pod) !== undefined);
		const declared = new Map(configs.map((config) => config[own]?.fleet ?? []).map((fleet) => [fleet.join(), fleet]));
		return [...declared].flatMap(([text, fleet]) => {
			const agrees = (id: string): boolean => {
				const index = clusters.findIndex((cluster) => cluster.id === id);
				return configs.some((config) => config[index]?.fleet.join() === text);
			};
			return fleet.every(agrees) ? [fleet] : [];
		});
	}

	/** What held when the first of the acquisitions was got that the round's grants rest on: everything is read after it. */
	#configAt({ committed }: RoundRecord): number {
		const { clusters } = this.#options;
		const times = committed.flatMap(({ cluster, nonce }) => {
			const index = clusters.findIndex(({ id }) => id === cluster);
			const unwrittenAt = this.budgets.unwrittenAt(cluster, nonce);
			if (unwrittenAt !== undefined) return unwrittenAt;
			const own = clusters[index]?.server.leaseEvents.filter(({ object }) => nonceOf(object) === nonce) ?? [];
			// A double may have taken the Lease a second time: what stands is the latest acquisition.
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

	/** From when on the member must not have read a budget as absent under which the round did not count. */
	#knownFrom(budget: string, index: number, round: RoundRecord): number {
		const known = this.budgets.ofRound(this.#options.clusters[index]?.id ?? "", round.committed) ?? round.config;
		const acquired = this.#configAt(round);
		const isNamed = this.#configs.slice(known, acquired + 1).every((config) => config[index]?.budgets.has(budget));
		return isNamed ? Math.max(known, acquired) : known;
	}

	/** When the pod got the labels that it has. */
	#labelledAt(pod: PodRecord): number {
		const index = this.#options.clusters.findIndex((cluster) => cluster.slotOf(pod) !== undefined);
		const events = this.#options.clusters[index]?.server.podEvents.filter(({ object }) => object.uid === pod.uid) ?? [];
		const labels = JSON.stringify(pod.labels);
		const before = events.findLastIndex(({ object }) => JSON.stringify(object.labels) !== labels);
		const version = Number(events[before + 1]?.resourceVersion);
		const found = this.#configs.findIndex((config) => (config[index]?.revision ?? 0) >= version);
		return found < 0 ? this.#configs.length : found;
	}

	#couldNotKnow({ down }: Slot, cluster: SimulatedCluster, budget: string, round: RoundRecord): boolean {
		if (!down) return false;
		if (down.cause === "involuntary") return down.revision > (round.viewsAt.get(cluster.id) ?? 0);
		if (!down.by || down.by.round === round) return false;
		const by = down.by.round as RoundRecord;
		const granted = by.granted.get(down.by.uid);
		// Evicted without asking, while no budget covered it: to others it is as if it had failed.
		if (!granted) return down.revision > (round.viewsAt.get(cluster.id) ?? 0);
		return !granted.includes(budget) && by.decidedAt > round.startedAt;
	}

	/** Pods that other labels took out of the budget, and that some view of their cluster still had in it when the round began. */
	#relabelledSince(budget: string, selector: Labels, round: RoundRecord): readonly string[] {
		return this.#options.clusters.flatMap((cluster) =>
			cluster.workloads.flatMap((workload) => {
				const since = round.viewsAt.get(cluster.id) ?? 0;
				return workload.slots.flatMap((slot) => {
					const pod = workload.podIn(slot);
					if (!pod || matches(selector, pod.labels)) return [];
					if (slot.down && !this.#couldNotKnow(slot, cluster, budget, round)) return [];
					const versions = cluster.server.podEvents.filter(({ object }) => object.uid === pod.uid);
					const first = versions.findLastIndex(({ resourceVersion }) => Number(resourceVersion) <= since);
					const seen = versions.slice(Math.max(first, 0));
					return seen.some(({ object }) => matches(selector, object.labels)) ? [`${cluster.id}/${pod.name}`] : [];
				});
			}),
		);
	}

	/** Nothing was granted and no message was lost: then nothing of this round may be left in any Lease. */
	#checkTakenBack(round: RoundRecord): void {
		const own = new Set(round.ids);
		for (const { id, server } of this.#options.clusters) {
			const left = reservationsIn(server).find((reservation) => own.has(reservation.id));
			if (!left) continue;
			this.#options.onViolation({
				rule: "leak",
				message: `${round.process.name} was granted nothing, but its reservation ${left.id} stands in cluster ${id}`,
			});
		}
	}

	#slots(selector: Labels): readonly { readonly slot: Slot; readonly cluster: SimulatedCluster }[] {
		return this.#options.clusters.flatMap((cluster) =>
			cluster.workloads.flatMap((workload) =>
				[...workload.slots, ...workload.retired]
					.filter((slot) => matches(selector, workload.podIn(slot)?.labels ?? workload.spec.labels))
					.map((slot) => ({ slot, cluster })),
			),
		);
	}
}

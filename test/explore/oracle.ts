// The judge: it knows what is true, whatever the agents have counted.
//
// Promise under test: no set of rounds makes more pods unavailable than the budget allows for the counts that these rounds saw. The judge
// checks every eviction that was executed for a round, however late. After it, the pods that are up over all clusters must be at least the
// desired healthy, by the true scales of the controllers. A cluster counts for no more pods than it expects (counted-pods.ts). A finished
// pod is not healthy, even if it still reports Ready, and its eviction costs nothing. A pod with a pre-activity must not be evicted under a
// grant, unless it has finished.
//
// Three things that a round could not know are excused. Pods of the first two kinds count as up:
// - A pod that failed, was deleted without regard to the budgets, was evicted without a round, or left the budget with new labels. This
//   excuse does not apply if every view of its cluster had seen that before the round began. A view that is back since then may be as old
//   as its list, which must show everything from before the view was lost (returned-views.ts).
// - A pod that another round evicted, if that round was granted it after this round began, and only under other budgets. Then the pod's
//   labels, or the budgets, changed between the two rounds.
// - Earlier budgets and scales. For each member, the judge takes the least that it required since the round's first acquisition. A change
//   and a round at the same time can be put in either order, member by member.
// A budget under which the round did not count is judged member by member, from when the member's count had to know of it
// (known-budgets.ts). If the count knew it all the time, it is judged from the first acquisition, because its content is read after that. A
// budget that was absent for a part of that time is not checked. A pod that got other labels since its grant is judged from then on,
// because it cannot have been evicted before. If etcd came back from a backup, everything that is written from then on counts as newer than
// what a view had seen. If members change, a round is judged over a fleet that all its members declared at some time since it began.
//
// A pod that is evicted without a round must be terminating, finished or uncovered, or it has not started and has no pre-activity. It is
// uncovered if no budget in force covers its labels in some reading of the budgets, member by member. The readings end when the request was
// sent. They begin with the first list of budgets that the sender asked for in the second before (on its clock), or at the sending if there
// is no such list.
//
// Every excuse ends at a time of the sender's own clock (sender-time.ts):
// - What a round could not know ends a minute before its first commit was sent.
// - If a grant is older than a second, its budgets are read from a second before its eviction was sent. A budget under which the round did
//   not count applies too, if every agent of its member knew it by then. For that budget, nothing else is excused.
//
// Known holes of the shipped code that these rules would find are in excused-holes.ts until they are closed. If nothing fails and no budget
// changes, there are no excuses, and the rule is simply: up >= desired.
import type { LeaseObject } from "../../disruption/lease/lease-object.ts";
import type { PodRecord } from "../../disruption/budget/pod.ts";
import type { RoundVerdict } from "../../disruption/round/ticket.ts";
import { type ClusterSlot, countedPods } from "./counted-pods.ts";
import { type Excuse, isExcused } from "./excused-holes.ts";
import { KnownBudgets } from "./known-budgets.ts";
import { isCommitted, nonceOf, reservationsIn } from "./lease-text.ts";
import {
	type Config,
	configOf,
	configsFrom,
	fleetsAt,
	type Labels,
	leastDesired,
	matches,
	ofFleet,
	selectorsOf,
} from "./oracle-config.ts";
import { RoundExcuses } from "./round-excuses.ts";
import type { RoundRecord } from "./round-record.ts";
import { SenderTime } from "./sender-time.ts";
import type { SimulatedCluster } from "./simulated-cluster.ts";
import type { SimulatedProcess } from "./simulated-process.ts";
import type { Slot } from "./workload.ts";

export type { RoundRecord } from "./round-record.ts";

/** An eviction without a round, and the range of configs that its sender may have read. */
export interface FreeEviction {
	readonly round: RoundRecord;
	readonly from: number;
	readonly to: number;
}

/** The maximum age of the list of budgets behind an eviction without a round, on the sender's clock. */
const listedWithinMs = 1_000;

interface Judged {
	readonly budget: string;
	readonly selector: Labels;
	readonly pod: PodRecord;
	readonly round: RoundRecord;
	readonly now: Config;
	readonly sentAt: number;
}

export interface Violation {
	readonly rule: "budget" | "bypass" | "order" | "leak" | "liveness" | "bug";
	readonly message: string;
}

export interface OracleOptions {
	readonly scenario: string;
	readonly clusters: readonly SimulatedCluster[];
	readonly step: () => number;
	readonly faults: () => number;
	readonly onViolation: (violation: Violation) => void;
}

export class Oracle {
	readonly #options: OracleOptions;
	/** One config for each time at which budgets, scales, labels or fleets may have changed. */
	readonly #configs: Config[] = [];
	readonly budgets: KnownBudgets;
	/** When each process listed budgets, on its own clock, and the config at that time. */
	readonly #lists = new Map<SimulatedProcess, { readonly at: number; readonly config: number }[]>();
	readonly #rounds: RoundRecord[] = [];
	readonly #senders: SenderTime;
	readonly #excuses: RoundExcuses;
	#evictions = 0;

	constructor(options: OracleOptions) {
		const { clusters, step } = options;
		this.#options = options;
		this.budgets = new KnownBudgets(clusters, this.#configs);
		this.#senders = new SenderTime(() => ({
			step: step(),
			config: this.#configs.length - 1,
			known: clusters.map((cluster) => this.budgets.knownToAll(cluster)),
			views: clusters.map((cluster) => cluster.slowestView()),
		}));
		const { budgets } = this;
		this.#excuses = new RoundExcuses({ clusters, configs: this.#configs, budgets, senders: this.#senders });
	}

	/** Records the clock of a process that requests rounds and evicts. */
	follows(process: SimulatedProcess): void {
		this.#senders.follow(process);
	}

	commits(round: RoundRecord, cluster: string, nonce: string): void {
		round.committedAt ??= round.process.clock.now();
		round.committed.push({ cluster, nonce });
	}

	wrote(cluster: SimulatedCluster, lease: LeaseObject): void {
		this.budgets.wrote(cluster, lease);
		if (!isCommitted(lease)) return;
		const nonce = nonceOf(lease);
		const round = this.#rounds.findLast(({ committed }) => committed.some((each) => each.nonce === nonce));
		if (round) round.stoodAt ??= round.process.clock.now();
	}

	/** Called when budgets, scales, labels or fleets may have changed. */
	configChanged(): void {
		this.#configs.push(configOf(this.#options.clusters));
	}

	/** Counts the executed evictions, without those that need no check. */
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
			committedAt: undefined,
			decidedAt: Number.POSITIVE_INFINITY,
			stoodAt: undefined,
			decidedConfig: Number.POSITIVE_INFINITY,
			granted: new Map(),
		};
		this.#rounds.push(round);
		return round;
	}

	/** Called when etcd was restored or a view is back: the cluster's views need not have reached a higher revision. */
	limitViews({ id }: SimulatedCluster, revision: number): void {
		const index = this.#options.clusters.findIndex((cluster) => cluster.id === id);
		this.#senders.limitViews(index, revision);
		for (const { viewsAt } of this.#rounds) viewsAt.set(id, Math.min(viewsAt.get(id) ?? 0, revision));
	}

	/** `verdicts` is empty if the round threw an error. */
	roundEnds(round: RoundRecord, verdicts: readonly RoundVerdict[]): void {
		round.decidedAt = this.#options.step();
		round.decidedConfig = this.#configs.length - 1;
		for (const verdict of verdicts) {
			if (verdict.kind !== "granted") continue;
			round.granted.set(
				verdict.candidate.pod.uid,
				verdict.ticket.budgets.map(({ name }) => name),
			);
		}
		if (round.granted.size === 0 && this.#options.faults() === round.faults) this.#checkTakenBack(round);
	}

	/** Called when a pod was evicted for this round. `pod` is its state before the eviction. `sentAt` is on the sender's clock. */
	evicted(cluster: SimulatedCluster, pod: PodRecord, round: RoundRecord, sentAt: number): void {
		if (pod.terminating) return;
		this.#evictions += 1;
		const [preActivity] = pod.preActivities;
		if (preActivity !== undefined && !pod.finished) {
			const message = `${round.process.name} has pod ${pod.name} evicted, which has the pre-activity ${preActivity}`;
			this.#options.onViolation({ rule: "bypass", message });
		}
		const slot = cluster.slotOf(pod);
		if (!slot || slot.down) return;
		slot.down = { cause: "voluntary", revision: cluster.server.revision, by: { round, uid: pod.uid } };
		if (slot.workload.spec.kind === "Bare") slot.workload.emptied.add(slot);
		const now = configOf(this.#options.clusters);
		for (const { budget, selector } of selectorsOf(now)) {
			if (!matches(selector, pod.labels)) continue;
			this.#check({ budget, selector, pod, round, now, sentAt });
			this.#checkNewer({ budget, selector, pod, round, now, sentAt });
		}
	}

	/** Called when the process asks all members for their budgets, or an agent for its description, which can contain budgets. */
	lists(process: SimulatedProcess): void {
		const asked = { at: process.clock.now(), config: this.#configs.length - 1 };
		this.#lists.set(process, [...(this.#lists.get(process) ?? []), asked]);
	}

	/** Called when an eviction without a round is sent. Returns what its sender may have read. */
	sendsFreely(process: SimulatedProcess): FreeEviction {
		const now = process.clock.now();
		const young = this.#lists.get(process)?.find(({ at }) => now - at <= listedWithinMs);
		const to = this.#configs.length - 1;
		return { round: this.roundStarts(process), from: young?.config ?? to, to };
	}

	/** Called when a pod was evicted without a round. The header says when that is allowed. */
	evictedFreely(cluster: SimulatedCluster, pod: PodRecord, { round, from, to }: FreeEviction): void {
		const isDown = pod.terminating || pod.finished;
		if (isDown || (pod.preActivities.length === 0 && cluster.hasNotStarted(pod))) return;
		this.#evictions += 1;
		const slot = cluster.slotOf(pod);
		if (slot) slot.down ??= { cause: "voluntary", revision: cluster.server.revision, by: { round, uid: pod.uid } };
		const configs = this.#configs.slice(from, to + 1);
		const fleets = fleetsAt(configs, this.#excuses.indexOf(pod));
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

	/** Executes an eviction that a round was granted before this run began. */
	evictedBefore(cluster: SimulatedCluster, pod: PodRecord): void {
		cluster.server.evict(pod, { uid: pod.uid });
		const slot = cluster.slotOf(pod);
		if (slot) slot.down = { cause: "voluntary", revision: 0 };
	}

	/** Whether the budgets of the pod in this slot would hold without it. False if no budget covers the pod, or if all are suspended. */
	hasRoom(gone: Slot, { labels }: Pick<PodRecord, "labels">): boolean {
		const now = configOf(this.#options.clusters);
		const rooms = selectorsOf(now).flatMap(({ budget, selector }) => {
			const desired = matches(selector, labels) ? leastDesired([now], budget, selector) : undefined;
			if (desired === undefined) return [];
			const left = this.#excuses.slots(selector).filter(({ slot }) => !slot.down && slot !== gone);
			return countedPods(left) >= desired;
		});
		return rooms.length > 0 && rooms.every(Boolean);
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

	#check({ budget, selector, pod, round, now, sentAt }: Judged): void {
		const { startedAt, decidedConfig } = round;
		const counts = this.#excuses.countsOf(round);
		const sent = this.#isExcused("edited") ? undefined : this.#excuses.grantOf(round, sentAt);
		const granted = round.granted.get(pod.uid);
		const counted = granted?.includes(budget) ?? false;
		const scaledFrom = this.#options.clusters.map((_, index) => {
			if (!granted) return round.config;
			if (!counted) return this.#excuses.knownFrom(budget, index, round);
			const written = this.#excuses.writeOf(round)?.config ?? 0;
			return Math.max(this.#excuses.configAt(round), counts?.config ?? 0, written);
		});
		// An old grant is confirmed against the budgets, and not against what workloads want by then.
		const from = scaledFrom.map((own) => (granted && counted ? Math.max(own, sent?.config ?? 0) : own));
		const labelledAt = granted && !counted ? this.#excuses.labelledAt(pod) : 0;
		const decided = configsFrom(this.#configs.slice(0, decidedConfig + 1), from);
		const since = (first: readonly number[]) => [
			...configsFrom(
				this.#configs,
				first.map((own) => Math.max(own, labelledAt)),
			),
			now,
		];
		const [all, scaled] = [since(from), since(scaledFrom)];
		const fleets = fleetsAt(
			this.#configs.slice(Math.max(round.config, counts?.config ?? 0)),
			this.#excuses.indexOf(pod),
		);
		const shortfalls = fleets.map((fleet) => {
			if (leastDesired(ofFleet(decided, fleet), budget, selector) === undefined) return undefined;
			return this.#shortfall({
				budget,
				selector,
				round,
				fleet,
				desired: leastDesired(ofFleet(all, fleet), budget, selector, ofFleet(scaled, fleet)),
			});
		});
		// It is enough if the budget allowed the eviction in one fleet that the round may have had.
		if (shortfalls.includes(undefined)) return;
		const [shortfall = "no members agreed who the fleet is"] = shortfalls;
		this.#options.onViolation({
			rule: "budget",
			message:
				`${round.process.name} (round of step ${startedAt}) has pod ${pod.name} evicted, and budget ${budget} is ` +
				`broken: ${shortfall}`,
		});
	}

	/** Judges a budget under which the round did not count, if every agent of its member knew it in time (see grantOf()). */
	#checkNewer({ budget, selector, pod, round, now, sentAt }: Judged): void {
		const sent = this.#excuses.grantOf(round, sentAt);
		if (!sent || round.granted.get(pod.uid)?.includes(budget) !== false || this.#isExcused("created")) return;
		const labelledAt = this.#excuses.labelledAt(pod);
		const from = sent.known.map((known) => Math.max(known, labelledAt));
		const since = [...configsFrom(this.#configs, from), now];
		const broken = fleetsAt(since, this.#excuses.indexOf(pod)).map((fleet) => {
			const desired = leastDesired(ofFleet(since, fleet), budget, selector);
			const slots = this.#excuses.slots(selector).filter(({ cluster }) => fleet.includes(cluster.id));
			const up = countedPods(slots.filter(({ slot }) => !slot.down));
			return desired !== undefined && up < desired ? `${up} up, ${desired} must be` : undefined;
		});
		const [first] = broken;
		if (first === undefined || broken.includes(undefined)) return;
		this.#options.onViolation({
			rule: "budget",
			message:
				`${round.process.name} has pod ${pod.name} evicted under a grant that is older than budget ${budget}, which was ` +
				`known before the request was sent: ${first}`,
		});
	}

	#isExcused(excuse: Excuse): boolean {
		return isExcused(excuse, this.#options.scenario);
	}

	/** Returns how this fleet breaks the budget; undefined if it does not. */
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
		const up: ClusterSlot[] = [];
		const unknown: ClusterSlot[] = [];
		const down: ClusterSlot[] = [];
		for (const each of this.#excuses.slots(selector)) {
			const { slot, cluster } = each;
			if (!fleet.includes(cluster.id)) continue;
			if (!slot.down) up.push(each);
			else if (this.#excuses.couldNotKnow(slot, cluster, budget, round)) unknown.push(each);
			else down.push(each);
		}
		const counted = countedPods([...up, ...unknown]);
		if (counted >= desired) return undefined;
		const relabelled = this.#excuses.relabelledSince(budget, selector, round);
		if (counted + relabelled.length >= desired) return undefined;
		const excused = [...unknown.map(nameOf), ...relabelled];
		const sum = `${countedPods(up)} up${excused.length > 0 ? ` and ${excused.join(", ")} excused` : ""}, ${desired} must be`;
		return `${sum}; down are ${down.map(nameOf).join(", ")}`;
	}

	/** Checks that no Lease contains a reservation of this round, which was granted nothing. Called if no fault happened since it began. */
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
}

function nameOf({ slot, cluster }: ClusterSlot): string {
	return `${cluster.id}/${slot.workload.spec.name}-${slot.ordinal}`;
}

// Keeps what a screen knows of a run, from the run's events alone.
import type { Silent } from "../../disruption/errors.ts";
import { oneLine } from "../../disruption/printable.ts";
import type { NodeName, PodEvent, RunEvent, UsedBy } from "../events/events.ts";
import { type PodCounts, type PodState, PodTally, podKey } from "../events/pod-tally.ts";
import type { Reason } from "../events/reason.ts";
import { RemainingTime } from "../output/remaining-time.ts";
import { BudgetBook } from "./budget-book.ts";
import { type LogEntry, logEntry } from "./log-entry.ts";

export interface Wait {
	readonly reason: Reason;
	readonly message: string;
	readonly budget?: string;
	readonly usedBy: readonly UsedBy[];
	readonly retryAt?: number;
	/** When the wait began. The reason may have changed since. */
	readonly since: number;
}

/** All times are in ms since the epoch. */
export interface PodFacts {
	readonly key: string;
	readonly context: string;
	readonly namespace: string;
	readonly name: string;
	readonly node?: string;
	state: PodState;
	since: number;
	/** NAMESPACE/NAME of the fleet's budgets that cover it. */
	budgets: readonly string[];
	graceSeconds?: number;
	wait?: Wait;
	message?: string;
}

export type NodeState = "queued" | "draining" | "drained" | "failed";

export interface NodeFacts {
	readonly key: string;
	readonly context: string;
	readonly node: string;
	state: NodeState;
	since: number;
	/** How many pods the drain evicts. Until the node's turn, this is the plan's number. */
	pods?: number;
	message?: string;
}

interface Silence {
	readonly since: number;
	readonly message: string;
	/** The part that does not answer, if known. */
	readonly silent: Silent | undefined;
}

const longestLog = 200;

export class RunFacts {
	readonly contexts: string[] = [];
	readonly nodes = new Map<string, NodeFacts>();
	readonly pods = new Map<string, PodFacts>();
	readonly budgets = new BudgetBook();
	/** Newest first. */
	readonly log: LogEntry[] = [];
	/** By the cluster's name in the fleet. */
	readonly unreachable = new Map<string, Silence>();
	readonly #remaining = new RemainingTime();
	readonly #tally = new PodTally();
	/** Undefined until `run.started` arrives. */
	startedAt: number | undefined;
	plannedPods: number | undefined;
	isPaused = false;
	isStopping = false;
	/** Oldest first. Unlike the log, warnings are kept for the whole run. */
	readonly warnings: LogEntry[] = [];

	get silentContexts(): readonly string[] {
		return [...this.unreachable.keys()].map((cluster) => this.budgets.contextOf(cluster));
	}

	/** `at`: ms since the epoch. `event`: from flatEvent, so its texts are on one line, except messages and errors. */
	see(event: RunEvent, at: number): void {
		const entry = logEntry(event, at, this.#acceptedAt(event));
		const [last] = this.log;
		// Two parts of a run may report the same fact.
		if (entry && (entry.text !== last?.text || entry.context !== last.context)) {
			this.log.unshift(entry);
			if (this.log.length > longestLog) this.log.pop();
		}
		this.budgets.see(event, at);
		this.#tally.see(event);
		switch (event.type) {
			case "run.started":
				this.startedAt = at;
				for (const node of event.nodes) this.#node(node, at);
				for (const { context } of event.pods) this.#context(context);
				return;
			case "plan":
				this.plannedPods = event.pods;
				this.#remaining.planned(event, at);
				for (const { pods, ...node } of event.perNode) this.#node(node, at).pods = pods;
				return;
			case "node.draining":
				Object.assign(this.#node(event, at), { state: "draining", since: at, pods: event.pods });
				return;
			case "node.drained":
				this.#endNode(event, "drained", at);
				return;
			case "node.failed":
				this.#endNode(event, "failed", at).message = oneLine(event.why);
				return;
			case "pod.evicting":
				this.#pod(event, "evicting", at).budgets = event.budgets;
				return;
			case "pod.waiting":
			case "pod.retrying":
				this.#wait(event, at);
				return;
			case "pod.accepted":
				this.#pod(event, "terminating", at).graceSeconds = event.graceSeconds;
				return;
			case "pod.evicted":
			case "pod.gone":
				this.#pod(event, "gone", at);
				return;
			case "pod.stopped":
				this.#pod(event, "stopped", at);
				return;
			case "pod.skipped":
				this.#pod(event, "skipped", at).message = oneLine(event.message);
				return;
			case "pod.failed":
				this.#pod(event, "failed", at).message = oneLine(event.message);
				return;
			case "cluster.unreachable":
				this.unreachable.set(event.cluster, {
					since: at - event.elapsedMs,
					message: oneLine(event.message),
					silent: event.silent,
				});
				return;
			case "cluster.recovered":
				this.unreachable.delete(event.cluster);
				return;
			case "paused":
				this.isPaused = true;
				return;
			case "resumed":
				this.isPaused = false;
				return;
			case "interrupted":
				this.isStopping = true;
				return;
			case "node.warning":
			case "node.cordonFailed":
				if (entry) this.warnings.push(entry);
				return;
			case "diagnostic":
				if (entry && event.level !== "info") this.warnings.push(entry);
				return;
			case "node.cordoned":
			case "node.uncordoned":
			case "budget.suspended":
			case "budget.unsuspended":
			case "budget.suspendFailed":
			case "budget.takenBack":
			case "budget.notRecovered":
			case "run.failed":
			case "nodes.pending":
			case "budget.changed":
			case "budget.unknown":
			case "lease.acquired":
			case "lease.released":
			case "lease.lost":
			case "lease.waiting":
			case "login.started":
			case "login.ended":
			case "progress":
			case "summary":
		}
	}

	counts(at?: { readonly context: string; readonly node?: string }): PodCounts {
		if (!at) return this.#tally.counts;
		let [done, terminating, waiting, failed, known] = [0, 0, 0, 0, 0];
		for (const pod of this.pods.values()) {
			if (pod.context !== at.context || (at.node !== undefined && pod.node !== at.node)) continue;
			known += 1;
			if (pod.state === "gone" || pod.state === "skipped") done += 1;
			else if (pod.state === "terminating") terminating += 1;
			else if (pod.state === "waiting") waiting += 1;
			else if (pod.state === "failed") failed += 1;
		}
		const nodes = [...this.nodes.values()].filter(
			({ context, node }) => context === at.context && (at.node === undefined || node === at.node),
		);
		const counted = nodes.reduce((sum, { pods = 0 }) => sum + pods, 0);
		return { done, total: Math.max(known, counted), terminating, waiting, failed };
	}

	/**
	 * Returns the shortest and the longest time left, in seconds. null: unknown, because the drain is paused, a cluster does not answer, or
	 * the plan has no longest duration. Undefined without a plan.
	 */
	remaining(now: number): readonly [number, number | null] | undefined {
		const { done, total } = this.counts();
		const remaining = this.#remaining.after({ podsDone: done, podsTotal: total }, now);
		const isHeld = this.isPaused || this.unreachable.size > 0;
		return remaining && isHeld && done < total ? [remaining[0], null] : remaining;
	}

	get waiting(): readonly PodFacts[] {
		const waiting = [...this.pods.values()].filter(({ state }) => state === "waiting");
		return waiting.toSorted((a, b) => (a.wait?.since ?? a.since) - (b.wait?.since ?? b.since));
	}

	/** The pod's place among this run's pods that wait for the same budget, from 1. 0 if it waits for no budget. */
	placeOf(pod: PodFacts): number {
		const rivals = this.waiting.filter(({ wait }) => wait?.budget !== undefined && wait.budget === pod.wait?.budget);
		return rivals.indexOf(pod) + 1;
	}

	podsOn({ context, node }: NodeName): readonly PodFacts[] {
		return [...this.pods.values()].filter((pod) => pod.context === context && pod.node === node);
	}

	#wait(event: Extract<RunEvent, { type: "pod.waiting" | "pod.retrying" }>, at: number): void {
		const pod = this.#pod(event, "waiting", at);
		const { reason, retryAfterMs } = event;
		const asked = event.type === "pod.waiting" ? event : { usedBy: [], budget: undefined };
		pod.wait = {
			reason,
			message: oneLine(event.message),
			...(asked.budget !== undefined && { budget: asked.budget }),
			usedBy: asked.usedBy,
			...(retryAfterMs !== undefined && { retryAt: at + retryAfterMs }),
			since: pod.since,
		};
		if (asked.budget !== undefined) pod.budgets = [...new Set([...pod.budgets, asked.budget])];
	}

	#acceptedAt(event: RunEvent): number | undefined {
		if (event.type !== "pod.evicted") return undefined;
		const pod = this.pods.get(podKey(event));
		return pod?.state === "terminating" ? pod.since : undefined;
	}

	#endNode(name: NodeName, state: NodeState, at: number): NodeFacts {
		return Object.assign(this.#node(name, at), { state, since: at });
	}

	#context(context: string): void {
		if (!this.contexts.includes(context)) this.contexts.push(context);
	}

	#node({ context, node }: NodeName, at: number): NodeFacts {
		this.#context(context);
		const key = nodeKey(context, node);
		const known = this.nodes.get(key) ?? { key, context, node, state: "queued", since: at };
		this.nodes.set(key, known);
		return known;
	}

	#pod(event: PodEvent, state: PodState, at: number): PodFacts {
		const { context, namespace, pod: name, node } = event;
		this.#context(context);
		const key = podKey(event);
		const known: PodFacts = this.pods.get(key) ?? {
			key,
			context,
			namespace,
			name,
			...(node !== undefined && { node }),
			state,
			since: at,
			budgets: [],
		};
		// A failed attempt does not restart the wait.
		if (known.state !== state && !(state === "waiting" && known.state === "evicting" && known.wait)) known.since = at;
		else if (known.state !== state && known.wait) known.since = known.wait.since;
		known.state = state;
		this.pods.set(key, known);
		return known;
	}
}

export function nodeKey(context: string, node: string): string {
	return `node ${context} ${node}`;
}

// Collects from a run's events what it has done.
import type {
	NodeName,
	PodEvent,
	RunCommand,
	RunEvent,
	RunSummary,
	UnrecoveredBudget,
	UsedBy,
} from "../events/events.ts";
import { PodTally } from "../events/pod-tally.ts";
import type { Reason } from "../events/reason.ts";
import { waitText } from "../events/used-by-text.ts";
import type { DryRun } from "../flags/dry-run.ts";

interface NodeState extends NodeName {
	ours: boolean;
	state: "pending" | "drained" | "uncordoned" | "failed";
	reason: Reason;
	message: string;
	usedBy: readonly UsedBy[];
}

type Kept = Pick<NodeState, "reason" | "message"> & Partial<Pick<NodeState, "usedBy">>;

const stopped = { reason: "Interrupted", message: "stopped", usedBy: [] } as const;

export class RunRecord {
	readonly tally = new PodTally();
	readonly #command: RunCommand;
	readonly #wallClock: () => number;
	readonly #nodes = new Map<string, NodeState>();
	readonly #ended = new Set<string>();
	/** Evicted pods that are not known to be gone. */
	readonly #terminating = new Map<string, PodEvent>();
	#dryRun: DryRun = "none";
	readonly #budgetsOfPod = new Map<string, readonly string[]>();
	readonly #budgets = new Set<string>();
	readonly #notRecovered: UnrecoveredBudget[] = [];
	#pods: readonly PodEvent[] = [];
	#accepted = 0;
	#failedAfterwards = 0;
	#failed = 0;
	#longestWaitMs = 0;
	#started = false;
	#hasSummary = false;

	/** `wallClock`: ms since the epoch. */
	constructor(command: RunCommand, wallClock: () => number) {
		this.#command = command;
		this.#wallClock = wallClock;
	}

	/** Whether the run may have changed something. */
	get started(): boolean {
		return this.#started;
	}

	get hasSummary(): boolean {
		return this.#hasSummary;
	}

	get podsLeft(): readonly PodEvent[] {
		return this.#pods.filter((pod) => !this.#ended.has(podKey(pod)));
	}

	get nodesLeft(): readonly NodeName[] {
		return [...this.#nodes.values()].filter(({ state }) => state !== "drained").map(nameOf);
	}

	/** Nodes whose cordon this run may undo, drained or not. */
	get ours(): readonly NodeName[] {
		return [...this.#nodes.values()].filter(({ ours }) => ours).map(nameOf);
	}

	/** NAMESPACE/NAME of the budgets under which the run evicted pods. */
	get budgets(): readonly string[] {
		return [...this.#budgets].toSorted();
	}

	see(event: RunEvent): void {
		this.tally.see(event);
		if ("waitedMs" in event) this.#longestWaitMs = Math.max(this.#longestWaitMs, event.waitedMs);
		switch (event.type) {
			case "run.started":
				this.#started = true;
				this.#pods = event.pods;
				this.#dryRun = event.dryRun;
				for (const node of event.nodes) this.#node(node);
				return;
			case "node.cordoned":
				this.#node(event).ours = event.ours && event.dryRun === "none";
				return;
			case "node.uncordoned":
				this.#node(event).state = "uncordoned";
				return;
			case "node.drained":
				this.#node(event).state = "drained";
				return;
			case "node.failed":
				Object.assign(this.#node(event), { state: "failed", reason: event.reason, message: event.why, usedBy: [] });
				return;
			case "node.cordonFailed":
				Object.assign(this.#node(event), { reason: "Refused", message: event.message, usedBy: [] });
				return;
			case "pod.waiting":
				if (event.node !== undefined) this.#keep(event, event.node, event);
				return;
			case "pod.evicting":
				if (event.dryRun === "none") this.#budgetsOfPod.set(podKey(event), event.budgets);
				if (event.node !== undefined) this.#keep(event, event.node, stopped);
				return;
			case "pod.accepted":
				this.#accepted += 1;
				for (const budget of this.#budgetsOfPod.get(podKey(event)) ?? []) this.#budgets.add(budget);
				this.#ended.add(podKey(event));
				if (this.#dryRun === "none") this.#terminating.set(podKey(event), event);
				return;
			case "pod.gone":
				this.#ended.add(podKey(event));
				return;
			case "pod.evicted":
				this.#terminating.delete(podKey(event));
				return;
			case "pod.failed":
				this.#failed += 1;
				// If the eviction was accepted, only the wait for the pod's end has failed, so the pod may still terminate.
				if (!event.accepted) this.#terminating.delete(podKey(event));
				if (event.accepted) this.#failedAfterwards += 1;
				this.#ended.add(podKey(event));
				return;
			case "budget.notRecovered": {
				const { type: _, ...unrecovered } = event;
				this.#notRecovered.push(unrecovered);
				return;
			}
			case "summary":
				this.#hasSummary = true;
				return;
			case "budget.suspended":
			case "budget.unsuspended":
			case "budget.suspendFailed":
			case "budget.takenBack":
			case "node.warning":
			case "node.draining":
			case "nodes.pending":
			case "run.failed":
			case "pod.retrying":
			case "pod.skipped":
			case "pod.stopped":
			case "plan":
			case "budget.changed":
			case "budget.unknown":
			case "lease.acquired":
			case "lease.released":
			case "lease.lost":
			case "lease.waiting":
			case "cluster.unreachable":
			case "cluster.recovered":
			case "login.started":
			case "login.ended":
			case "diagnostic":
			case "progress":
			case "paused":
			case "resumed":
			case "interrupted":
		}
	}

	summary(end: Pick<RunSummary, "op" | "exitCode" | "interrupted" | "dryRun" | "resume" | "undo">): RunSummary {
		const nodes = [...this.#nodes.values()];
		const drains = this.#command === "drain";
		return {
			type: "summary",
			command: this.#command,
			...end,
			evicted: this.#accepted - this.#failedAfterwards,
			failed: this.#failed,
			drained: nodes.filter(({ state }) => state === "drained").map(nameOf),
			notDrained: nodes
				.filter(({ state }) => drains && state !== "drained")
				.map((node) => ({ ...nameOf(node), reason: node.reason, message: waitText(node, this.#wallClock()) })),
			cordoned: nodes.filter(({ ours, state }) => ours && state !== "drained").map(nameOf),
			uncordoned: nodes.filter(({ state }) => state === "uncordoned").map(nameOf),
			notRecovered: this.#notRecovered,
			longestWaitMs: this.#longestWaitMs,
			...(end.interrupted && this.#terminating.size > 0 && { terminating: [...this.#terminating.values()].map(podOf) }),
		};
	}

	/** Sets what the summary says about the node if the run ends now. */
	#keep({ context }: PodEvent, node: string, { reason, message, usedBy = [] }: Kept): void {
		Object.assign(this.#node({ context, node }), { reason, message, usedBy });
	}

	#node({ context, node }: NodeName): NodeState {
		const key = `${context} ${node}`;
		const known = this.#nodes.get(key);
		if (known) return known;
		const added: NodeState = {
			context,
			node,
			ours: false,
			state: "pending",
			...stopped,
		};
		this.#nodes.set(key, added);
		return added;
	}
}

function nameOf({ context, node }: NodeName): NodeName {
	return { context, node };
}

function podOf({ context, namespace, pod, uid, node }: PodEvent): PodEvent {
	return { context, namespace, pod, ...(uid !== undefined && { uid }), ...(node !== undefined && { node }) };
}

function podKey({ context, namespace, pod, uid = "" }: PodEvent): string {
	return `${context} ${namespace}/${pod} ${uid}`;
}

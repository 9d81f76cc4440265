// Selects what -o json publishes of each event (schemas/events-v1.json). `cluster` is a cluster's name in the fleet. `context` is this
// run's name for it, or `cluster` if it has none.
import type { Silent } from "../../disruption/errors.ts";
import type {
	MemberAgent,
	NodeName,
	PodEvent,
	RunEvent,
	RunSummary,
	UnrecoveredBudget,
	UsedBy,
} from "../events/events.ts";
import { type Reason, reasonCodes } from "../events/reason.ts";
import type { SuggestedCommands } from "../flags/suggested-commands.ts";
import { type FixSubject, fixCommand } from "./fix-command.ts";

export type Fields = Readonly<Record<string, unknown>>;

export class PublishedEvents {
	/** By the cluster's name in the fleet. */
	readonly #contexts = new Map<string, string>();
	readonly #suggest: SuggestedCommands;

	constructor(suggest: SuggestedCommands) {
		this.#suggest = suggest;
	}

	/** Returns the agents' versions for the first line. Later events name members by context. */
	agents(members: readonly MemberAgent[]): Readonly<Record<string, string>> {
		for (const { cluster, context } of members) if (context !== undefined) this.#contexts.set(cluster, context);
		return Object.fromEntries(members.map(({ cluster, version }) => [this.#contextOf(cluster), version]));
	}

	/** Undefined if other events already say it: kubectl repeats itself at the end. */
	publish(event: RunEvent): Fields | undefined {
		switch (event.type) {
			case "run.started": {
				const { type, nodes, pods, dryRun } = event;
				return { type, nodes: nodes.map(nodePath), pods: pods.map(withPod), ...dry(dryRun) };
			}
			case "node.cordoned":
			case "node.uncordoned": {
				const { dryRun, ours: _, ...fields } = event;
				return { ...fields, ...dry(dryRun) };
			}
			case "budget.suspended":
			case "budget.unsuspended": {
				const { dryRun, ...fields } = event;
				return { ...fields, ...dry(dryRun) };
			}
			case "budget.takenBack":
				return { ...event, suspended: event.suspended ?? null };
			case "node.drained": {
				const { dryRun, ...fields } = event;
				return { ...fields, ...dry(dryRun) };
			}
			case "node.warning":
				return { ...event, type: "diagnostic", level: "warning" };
			case "node.failed": {
				const { why, ...fields } = event;
				return { ...fields, ...this.#codeAndFix(event.reason, event), message: why };
			}
			case "nodes.pending":
			case "run.failed":
				return undefined;
			case "pod.evicting": {
				const { dryRun, ...fields } = event;
				return { ...withPod(fields), ...dry(dryRun) };
			}
			case "pod.waiting": {
				const { need, healthy, expected } = event;
				// If no pods are expected, nothing is allowed, whatever the number of healthy pods.
				const left = need !== undefined &&
					healthy !== undefined && { left: expected === 0 ? 0 : Math.max(0, healthy - need) };
				const usedBy = event.usedBy.map((used) => this.#usedBy(used));
				return { ...withPod(event), ...this.#codeAndFix(event.reason, event), ...left, usedBy };
			}
			case "pod.retrying":
			case "pod.failed":
				return { ...withPod(event), ...this.#codeAndFix(event.reason, event) };
			case "pod.evicted": {
				const { elapsedMs, ...fields } = event;
				return { ...withPod(fields), ms: Math.round(elapsedMs) };
			}
			case "pod.accepted":
			case "pod.gone":
			case "pod.stopped":
			case "pod.skipped":
				return withPod(event);
			case "lease.waiting":
				return {
					...this.#inContext(event),
					heldForMs: Math.round(event.heldForMs),
					...this.#reasoned("LeaseHeld", event),
				};
			case "lease.acquired":
				return { ...this.#inContext(event), waitedMs: Math.round(event.waitedMs) };
			case "lease.released":
			case "lease.lost":
				return { ...this.#inContext(event), heldMs: Math.round(event.heldMs) };
			case "cluster.unreachable": {
				const { elapsedMs, silent: _, ...fields } = event;
				return {
					...this.#inContext(fields),
					type: "context.unreachable",
					ms: Math.round(elapsedMs),
					...this.#reasoned("PeerUnreachable", event),
				};
			}
			case "cluster.recovered": {
				const { elapsedMs, ...fields } = event;
				return { ...this.#inContext(fields), type: "context.recovered", ms: Math.round(elapsedMs) };
			}
			case "budget.changed": {
				const { clusters, usedBy, ...fields } = event;
				const { need, expected } = event;
				return {
					...fields,
					...(usedBy && { usedBy: usedBy.map((used) => this.#usedBy(used)) }),
					...(need !== undefined && expected !== undefined && { limit: Math.max(0, expected - need) }),
					perContext: Object.fromEntries(
						clusters.map(({ name, healthy, expected: here }) => [this.#contextOf(name), [healthy, here ?? null]]),
					),
				};
			}
			case "budget.notRecovered":
				return { type: event.type, ...this.#unrecovered(event) };
			case "diagnostic": {
				const { reason, budget, node, context = "" } = event;
				return { ...event, ...(reason && this.#codeAndFix(reason, { context, budget, node })) };
			}
			case "progress": {
				const waits = event.waits.map((wait) => ({ ...wait, usedBy: wait.usedBy.map((used) => this.#usedBy(used)) }));
				return { ...event, waits };
			}
			case "plan": {
				const perNode = event.perNode.map(({ pods, ...node }) => ({ node: nodePath(node), pods }));
				return { ...event, perNode };
			}
			case "login.ended": {
				const { elapsedMs, ...fields } = event;
				return { ...fields, ms: Math.round(elapsedMs) };
			}
			case "resumed":
				return { ...event, pausedMs: Math.round(event.pausedMs) };
			case "node.draining":
			case "node.cordonFailed":
			case "budget.unknown":
			case "login.started":
			case "budget.suspendFailed":
			case "paused":
			case "interrupted":
				return { ...event };
			case "summary":
				return {
					...publishSummary(event),
					notRecovered: event.notRecovered.map((each) => this.#unrecovered(each)),
				};
		}
	}

	#unrecovered({ budget, healthy, expected, missing, usedBy, message }: UnrecoveredBudget): Fields {
		const [namespace] = budget.split("/");
		// The context of the first of these pods, or else any context of the fleet.
		const context = this.#contexts.get(usedBy[0]?.cluster ?? "") ?? [...this.#contexts.values()][0] ?? "";
		return {
			budget,
			...(healthy !== undefined && { healthy }),
			...(expected !== undefined && { expected }),
			missing,
			usedBy: usedBy.map((used) => this.#usedBy(used)),
			message,
			reason: "NotRecovered",
			...this.#codeAndFix("NotRecovered", { context, namespace }),
		};
	}

	#codeAndFix(reason: Reason, where: Omit<FixSubject, "suggest">): Fields {
		const fix = fixCommand(reason, { ...where, suggest: this.#suggest });
		return { code: reasonCodes[reason], ...(fix !== undefined && { fix }) };
	}

	#contextOf(cluster: string): string {
		return this.#contexts.get(cluster) ?? cluster;
	}

	#inContext({ type, ...fields }: { readonly type: string; readonly cluster: string }): Fields {
		return { type, context: this.#contextOf(fields.cluster), ...fields };
	}

	/** Without a context for the cluster, there is no command to suggest. */
	#reasoned(
		reason: Reason,
		{
			cluster,
			budget,
			silent,
		}: { readonly cluster: string; readonly budget?: string; readonly silent?: Silent | undefined },
	): Fields {
		const context = this.#contexts.get(cluster);
		if (context === undefined) return { reason, code: reasonCodes[reason] };
		return { reason, ...this.#codeAndFix(reason, { context, namespace: budget?.split("/")[0], silent }) };
	}

	#usedBy({ namespace, pod, sinceSeconds, ...used }: UsedBy): Fields {
		const since = new Date((sinceSeconds ?? Number.NaN) * 1_000);
		// Another machine wrote the time, so it may not be a valid date.
		const isDate = Number.isFinite(since.getTime());
		return {
			context: this.#contextOf(used.cluster),
			...used,
			pod: `${namespace}/${pod}`,
			...(isDate && { since: since.toISOString() }),
		};
	}
}

function publishSummary(summary: RunSummary): Fields {
	const {
		interrupted,
		drained,
		notDrained,
		cordoned,
		uncordoned,
		longestWaitMs,
		notRecovered: _,
		terminating,
		...fields
	} = summary;
	return {
		...fields,
		result: interrupted ? "interrupted" : fields.exitCode === 0 ? "done" : "failed",
		drained: drained.map(nodePath),
		notDrained: notDrained.map(({ reason, message, ...node }) => ({ node: nodePath(node), reason, message })),
		cordoned: cordoned.map(nodePath),
		uncordoned: uncordoned.map(nodePath),
		longestWaitMs: Math.round(longestWaitMs),
		...(terminating && { terminating: terminating.map(withPod) }),
	};
}

/** As commands accept it. Inside a pod, the cluster has no context name. */
function nodePath({ context, node }: NodeName): string {
	return context === "" ? node : `${context}/${node}`;
}

type PodFields = PodEvent & { readonly type?: string; readonly waitedMs?: number };

function withPod(event: PodFields): Fields {
	const { type, context, namespace, pod, waitedMs, ...fields } = event;
	return {
		...(type !== undefined && { type }),
		context,
		pod: `${namespace}/${pod}`,
		...fields,
		...(waitedMs !== undefined && { waitedMs: Math.round(waitedMs) }),
	};
}

function dry(dryRun: "none" | "client" | "server"): Fields {
	return dryRun === "none" ? {} : { dryRun };
}

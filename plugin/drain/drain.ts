// Cordons all nodes of a drain, then drains the clusters in parallel, each with up to `maxNodes` nodes at a time. The evictions decide
// about budgets, and the readers of the drain's events print.
import type { V1Pod } from "@kubernetes/client-node";
import type { EventSink } from "../events/events.ts";
import type { Reason } from "../events/reason.ts";
import { createJob, createTimeout } from "../evictions/eviction-job.ts";
import type { Evictions } from "../evictions/evictions.ts";
import type { FailedPod } from "../evictions/pod-outcome.ts";
import type { DryRun } from "../flags/dry-run.ts";
import { formatDuration } from "../flags/duration.ts";
import { isAgentPod } from "../fleet/agent-pods.ts";
import { ApiError, ConnectionError, errorText, refusalReason } from "../kubernetes/api-error.ts";
import type { KubernetesClient } from "../kubernetes/kubernetes-client.ts";
import type { PodDeletions } from "../kubernetes/pod-deletions.ts";
import { type CordonResult, hasSucceeded, setUnschedulable } from "../nodes/cordon.ts";
import type { NodeHold } from "../nodes/node-hold.ts";
import type { NodeTarget } from "../nodes/node-target.ts";
import type { OperationAnnotations } from "../nodes/operation-annotation.ts";
import { orderPods, type PodOrder } from "./pod-order.ts";
import { type PodQuery, podsToTake } from "./pods-to-take.ts";

export interface DrainOptions extends PodQuery {
	/** The timeout of each node. 0: no timeout. */
	readonly timeoutMs: number;
	readonly gracePeriodSeconds: number;
	/** Send DELETE requests instead of evictions. */
	readonly deletes: boolean;
	/** After all nodes are drained, wait until the budgets of their pods have recovered. */
	readonly replaced: boolean;
	/** How many nodes each cluster drains at the same time. */
	readonly maxNodes: number;
	readonly order: PodOrder;
	readonly dryRun: DryRun;
}

export interface DrainDependencies {
	/** Undefined for a client-side dry run, which evicts nothing. */
	readonly evictions: Pick<Evictions, "evict"> | undefined;
	readonly emit: EventSink;
	/** Writes the run's annotation on its nodes. Left out for a dry run. */
	readonly annotations?: Pick<OperationAnnotations, "cordon" | "drained" | "hold">;
	/** After this aborts, the drain starts no new eviction and no new node. */
	readonly stop: AbortSignal;
	readonly wallClock: () => number;
	/** The clock of the evictions. */
	readonly now: () => number;
	/** If left out, each pod is polled until it is gone. */
	readonly watchDeletions?: (client: KubernetesClient, node: string) => Promise<PodDeletions>;
	/** Called when an agent's pod is about to be evicted. Not called in a dry run. */
	readonly leaveAgent: (contextName: string, podUid: string) => void;
	readonly agentNamespaces: (contextName: string) => readonly string[];
	/** Whether no node would accept the pod's replacement, as far as this was checked. */
	readonly isStranded?: (podUid: string) => boolean;
	readonly onTimeout?: (timeout: AbortSignal) => void;
	/** Called when a node is finished, whether it was drained or not. */
	readonly onNode?: () => void;
}

export type NodeOutcome =
	| { readonly kind: "drained" }
	/** Not started or not finished because the run was stopped. */
	| { readonly kind: "stopped" }
	| { readonly kind: "failed"; readonly errors: readonly string[]; readonly unreachable: boolean };

export interface DrainResult {
	readonly nodes: readonly ({ readonly node: NodeTarget } & NodeOutcome)[];
}

/** The results are in the order of `nodes`. */
export async function drain(
	nodes: readonly NodeTarget[],
	options: DrainOptions,
	deps: DrainDependencies,
): Promise<DrainResult> {
	const cordons = new Map<NodeTarget, CordonResult>();
	for (const node of nodes) {
		if (deps.stop.aborted) break;
		const { dryRun } = options;
		const result = deps.annotations
			? await deps.annotations.cordon(node)
			: await setUnschedulable(node, { desired: true, dryRun, emit: deps.emit });
		cordons.set(node, result);
	}
	const outcomes = new Map<NodeTarget, NodeOutcome>();
	const lanes = [...Map.groupBy(nodes, ({ context }) => context).values()].flatMap((queue) => {
		const rest = [...queue];
		return Array.from({ length: Math.min(options.maxNodes, rest.length) }, async () => {
			for (let node = rest.shift(); node; node = rest.shift()) {
				outcomes.set(node, await drainInTurn(node));
				deps.onNode?.();
			}
		});
	});
	await Promise.all(lanes);
	return {
		nodes: nodes.flatMap((node) => {
			const outcome = outcomes.get(node);
			return outcome ? [{ node, ...outcome }] : [];
		}),
	};

	async function drainInTurn(node: NodeTarget): Promise<NodeOutcome> {
		if (deps.stop.aborted) return { kind: "stopped" };
		const cordon = cordons.get(node) ?? "failed";
		if (hasSucceeded(cordon)) return drainNode(node, options, deps);
		// Not drained, because replacements of its pods could land on it again. kubectl evicts the pods of such a node anyway.
		const why = "it could not be cordoned";
		return fail(node, [why], [], { deps, unreachable: cordon === "unanswered", reason: "CordonFailed", why });
	}
}

async function drainNode(node: NodeTarget, options: DrainOptions, deps: DrainDependencies): Promise<NodeOutcome> {
	const { emit } = deps;
	const at = { context: node.context.name, node: node.name };
	const hold = deps.annotations?.hold(node);
	const over = new AbortController();
	void hold?.watch(AbortSignal.any([deps.stop, over.signal]));
	const takenOver = ({ why }: NodeHold): NodeOutcome => fail(node, [why], [], { deps, reason: "TakenOver", why });
	try {
		const readAt = deps.now();
		const { take, warnings, errors } = await podsToTake(node, options, deps.wallClock());
		if (errors.length > 0) return fail(node, errors, [], { deps, reason: "PodsNotAllowed" });
		if (warnings !== "") emit({ type: "node.warning", ...at, message: warnings });
		if (deps.evictions) emit({ type: "node.draining", ...at, pods: take.length });
		const failures = await evictAll(node, { pods: take, readAt, hold }, options, deps);
		if (hold?.lost.aborted) return takenOver(hold);
		if (failures === "stopped") return { kind: "stopped" };
		if (failures.length > 0) {
			const pending = await podsToTake(node, options, deps.wallClock());
			const telling = failures.find(({ waitedFor }) => waitedFor !== undefined) ?? failures[0];
			return fail(
				node,
				failures.map(({ message }) => message),
				pending.take.map(({ metadata }) => metadata?.name ?? ""),
				{
					deps,
					unreachable: failures.some(({ unreachable }) => unreachable),
					reason: telling?.reason ?? "Refused",
					why: telling?.waitedFor ?? telling?.message,
				},
			);
		}
		await deps.annotations?.drained(node);
		emit({ type: "node.drained", ...at, dryRun: options.dryRun });
		return { kind: "drained" };
	} catch (error) {
		// For example, the node's pods could not be listed. The other nodes continue.
		if (!(error instanceof ApiError || error instanceof ConnectionError)) throw error;
		const unreachable = error instanceof ConnectionError;
		const reason = unreachable ? "ServerUnreachable" : refusalReason(error);
		return fail(node, [errorText(error)], [], { deps, unreachable, reason });
	} finally {
		over.abort("its drain has ended");
	}
}

function fail(
	node: NodeTarget,
	errors: readonly string[],
	pending: readonly string[],
	{
		deps,
		unreachable = false,
		reason,
		why = errors[0] ?? "",
	}: {
		readonly deps: DrainDependencies;
		readonly unreachable?: boolean;
		readonly reason: Reason;
		readonly why?: string | undefined;
	},
): NodeOutcome {
	deps.emit({ type: "node.failed", context: node.context.name, node: node.name, reason, why, errors, pending });
	return { kind: "failed", errors, unreachable };
}

/** Evicts the pods group by group. Stops at a group of which a pod remains, because later groups would be out of order. */
async function evictAll(
	node: NodeTarget,
	{
		pods,
		readAt,
		hold,
	}: { readonly pods: readonly V1Pod[]; readonly readAt: number; readonly hold: NodeHold | undefined },
	options: DrainOptions,
	deps: DrainDependencies,
): Promise<"stopped" | readonly FailedPod[]> {
	const { evictions, emit } = deps;
	const timeout = createTimeout(options.timeoutMs, formatDuration(options.timeoutMs));
	deps.onTimeout?.(timeout.signal);
	const { gracePeriodSeconds, deletes } = options;
	const deletions = evictions && (await deps.watchDeletions?.(node.context.client, node.name));
	using _ = { [Symbol.dispose]: () => deletions?.close() };
	const agents = deps.agentNamespaces(node.context.name);
	const groups = drainOrder(pods, options.order, agents).map((group) =>
		group.map((pod) =>
			createJob(pod, {
				context: node.context,
				node: node.name,
				timeout,
				deletes,
				deletions,
				hold,
				strands: deps.isStranded?.(pod.metadata?.uid ?? "") ?? false,
				gracePeriodSeconds,
				readAt,
			}),
		),
	);
	if (!evictions) {
		for (const { pod } of groups.flat()) {
			const name = { context: node.context.name, node: node.name, namespace: pod.namespace, pod: pod.name };
			emit({ type: "pod.evicting", ...name, dryRun: "client", deletes: false, budgets: [], attempt: 1 });
		}
		return [];
	}
	for (const jobs of groups) {
		if (deps.stop.aborted) return "stopped";
		for (const { pod, seen } of jobs) {
			const isAgent = isAgentPod({ namespace: pod.namespace, labels: seen.labels }, agents);
			if (isAgent && options.dryRun === "none") deps.leaveAgent(node.context.name, pod.uid);
		}
		const outcomes = await Promise.all(jobs.map((job) => evictions.evict(job)));
		const failures = outcomes.filter((outcome) => outcome.kind === "failed");
		if (failures.length > 0) return failures;
		if (outcomes.some(({ kind }) => kind === "stopped")) return "stopped";
	}
	return [];
}

/** Returns the pods in groups in the chosen order. Agents go last, because grants need running agents. */
export function drainOrder(
	pods: readonly V1Pod[],
	order: PodOrder,
	agentNamespaces: readonly string[],
): readonly (readonly V1Pod[])[] {
	const isAgent = ({ metadata }: V1Pod): boolean =>
		isAgentPod({ namespace: metadata?.namespace ?? "", labels: metadata?.labels ?? {} }, agentNamespaces);
	const agents = pods.filter(isAgent);
	const others = pods.filter((pod) => !isAgent(pod));
	return [...orderPods(others, order), ...(agents.length > 0 ? [agents] : [])];
}

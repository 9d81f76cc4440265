// Detects that a drain waits for itself: a Pending pod fits only cordoned nodes of this drain, and uses up a budget that other pods wait
// for. This lasts until a node that fits the pod is uncordoned or added.
import type { V1Node, V1Pod } from "@kubernetes/client-node";
import type { EventSink, UsedBy, WaitSum } from "../events/events.ts";
import { unlessOver } from "../kubernetes/unless-over.ts";
import type { SuggestedCommands } from "../flags/suggested-commands.ts";
import type { Fleet } from "../fleet/fleet.ts";
import { ApiError, ConnectionError } from "../kubernetes/api-error.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import type { NodeTarget } from "../nodes/node-target.ts";
import { readLocalVolumes } from "../plan/local-volumes.ts";
import { findPlacement } from "../plan/placement.ts";
import { counted } from "../terminal/counted.ts";

export interface DeadlockDependencies {
	readonly waits: () => readonly WaitSum[];
	readonly fleet: Pick<Fleet, "members" | "contextOf">;
	readonly suggest: SuggestedCommands;
	readonly emit: EventSink;
	readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** Long enough for the scheduler to try a new pod. */
const lookEveryMs = 10_000;
/** How many pods to check for each budget. Each check reads a pod, the nodes and volumes. */
const mostLookedAt = 5;

/** Reports each deadlock once, until `ends` aborts. `nodes`: all nodes that the drain cordons. */
export async function tellDeadlocks(
	nodes: readonly NodeTarget[],
	deps: DeadlockDependencies,
	ends: AbortSignal,
): Promise<void> {
	const told = new Set<string>();
	for (;;) {
		await deps.sleep(lookEveryMs, ends);
		if (ends.aborted) return;
		for (const { budget, usedBy, pods } of deps.waits()) {
			if (budget === undefined) continue;
			for (const used of usedBy.filter(({ state }) => state === "Pending").slice(0, mostLookedAt)) {
				const key = `${budget} ${used.cluster} ${used.namespace}/${used.pod}`;
				if (told.has(key)) continue;
				// An API server may never answer.
				const found = await unlessOver(findDeadlock(used, nodes, deps), ends);
				if (ends.aborted) return;
				if (!found) continue;
				told.add(key);
				tell({ ...found, used, budget, waiting: pods }, deps);
			}
		}
	}
}

interface Deadlock {
	readonly context: KubeContext;
	/** The only nodes that fit the pod. All of them are cordoned nodes of this drain. Another user may have cordoned them before. */
	readonly fitting: readonly string[];
}

/** Undefined if there is no deadlock, or if the cluster cannot be read. The next check asks again. */
async function findDeadlock(
	{ cluster, namespace, pod: name }: UsedBy,
	targets: readonly NodeTarget[],
	{ fleet }: Pick<DeadlockDependencies, "fleet">,
): Promise<Deadlock | undefined> {
	const id = fleet.members.find((member) => member.name === cluster)?.id;
	const contextName = id === undefined ? undefined : fleet.contextOf(id);
	const own = targets.filter(({ context }) => context.name === contextName);
	const [first] = own;
	if (!first) return undefined;
	const { context } = first;
	try {
		const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(name)}`;
		const pod = await context.client.get<V1Pod>(path);
		if (pod.spec?.nodeName !== undefined || pod.metadata?.deletionTimestamp !== undefined) return undefined;
		const [nodes, volumes] = await Promise.all([
			context.client.list<V1Node>("/api/v1/nodes"),
			readLocalVolumes(context, [pod]),
		]);
		const names = new Set(own.map((node) => node.name));
		// A node that was uncordoned meanwhile can take the pod.
		const drained = new Set(
			nodes.filter((node) => names.has(nameOf(node)) && node.spec?.unschedulable === true).map(nameOf),
		);
		const needs = { volumes: volumes.of(pod) };
		if (findPlacement(pod, nodes, { ...needs, drained }).kind !== "nowhere") return undefined;
		const fitting = nodes.filter(
			(node) =>
				drained.has(nameOf(node)) &&
				findPlacement(pod, [node], { ...needs, drained: new Set(), ignoresCordons: true }).kind === "somewhere",
		);
		return fitting.length === 0 ? undefined : { context, fitting: fitting.map(nameOf) };
	} catch (error) {
		if (error instanceof ApiError || error instanceof ConnectionError) return undefined;
		throw error;
	}
}

function tell(
	{
		context,
		fitting,
		used,
		budget,
		waiting,
	}: Deadlock & { readonly used: UsedBy; readonly budget: string; readonly waiting: number },
	{ emit, suggest }: Pick<DeadlockDependencies, "emit" | "suggest">,
): void {
	const [node = ""] = fitting;
	const [fits, are] = fitting.length === 1 ? ["fits", "is"] : ["fit", "are"];
	const command = suggest.xpdb(["uncordon", node], context.name);
	const waits = waiting === 1 ? "waits" : "wait";
	const message =
		`pod ${used.namespace}/${used.pod} is Pending, only ${fitting.join(", ")} ${fits} it, which ${are} cordoned and part of this drain: ` +
		`it uses up budget ${budget}, for which ${counted(waiting, "pod")} of this drain ${waits}. To let it start: ${command}`;
	emit({
		type: "diagnostic",
		level: "warning",
		context: context.name,
		reason: "DrainDeadlock",
		node,
		budget,
		message,
	});
}

function nameOf({ metadata }: V1Node): string {
	return metadata?.name ?? "";
}

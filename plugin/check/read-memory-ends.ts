// Finds the agents whose container ended lately because it had too little memory.
import type { V1ContainerStatus, V1Pod } from "@kubernetes/client-node";
import { agentLabel, agentName } from "../../disruption/agent-names.ts";
import { heapFullExitCode } from "../../disruption/heap-full-exit-code.ts";
import type { KubernetesClient } from "../kubernetes/kubernetes-client.ts";

export interface MemoryEnd {
	/** NAMESPACE/NAME of the pod. */
	readonly pod: string;
	/** How the container ended, for example OOMKilled. */
	readonly how: string;
	readonly restarts: number;
	/** The memory limit, as the pod has it. */
	readonly limit: string | undefined;
	/** Whether the pod belongs to the Deployment that an installation makes, and not to a workload with an agent as its sidecar. */
	readonly isOfDeployment: boolean;
}

/** The agent's container in agent/deploy/, and in agent/sidecar/. */
const containerNames = ["agent", agentName];
/** V8 ends a process with SIGABRT when its heap is full. */
const abortedExitCode = 134;
/** An older end says little about the agent's memory now. */
const recentMs = 24 * 3_600_000;

export async function readMemoryEnds(
	client: KubernetesClient,
	namespaces: readonly string[],
	nowMs: number,
): Promise<readonly MemoryEnd[]> {
	const labelSelector = `${agentLabel}=${agentName}`;
	const lists = await Promise.all(
		namespaces.map((namespace) => client.list<V1Pod>(`/api/v1/namespaces/${namespace}/pods`, { labelSelector })),
	);
	return lists.flat().flatMap((pod) => memoryEndOf(pod, nowMs) ?? []);
}

export function memoryEndOf({ metadata, spec, status }: V1Pod, nowMs: number): MemoryEnd | undefined {
	// The agent is a sidecar in the pods of some fleets.
	const statuses = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])].filter(({ name }) =>
		containerNames.includes(name),
	);
	for (const container of statuses) {
		const how = howItEnded(container, nowMs);
		if (how === undefined) continue;
		const all = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])];
		const limit = all.find(({ name }) => name === container.name)?.resources?.limits?.["memory"];
		return {
			pod: `${metadata?.namespace ?? ""}/${metadata?.name ?? ""}`,
			how,
			restarts: container.restartCount,
			limit,
			isOfDeployment: metadata?.name?.startsWith(`${agentName}-`) === true,
		};
	}
	return undefined;
}

function howItEnded({ state, lastState }: V1ContainerStatus, nowMs: number): string | undefined {
	const ended = state?.terminated ?? lastState?.terminated;
	if (!ended || nowMs - new Date(ended.finishedAt ?? 0).getTime() > recentMs) return undefined;
	if (ended.reason === "OOMKilled") return ended.reason;
	return ended.exitCode === heapFullExitCode || ended.exitCode === abortedExitCode ? "its heap was full" : undefined;
}

// Waits until the agents of a cluster run as their Deployment says, like `kubectl rollout status`.
import { setTimeout as delay } from "node:timers/promises";
import type { V1Deployment, V1Pod } from "@kubernetes/client-node";
import { agentLabel, agentName } from "../../disruption/agent-names.ts";
import { BoundedError } from "../../disruption/bounded-error.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { installStep } from "./install-step.ts";

export class AgentsNotReadyError extends BoundedError {
	override readonly name = "AgentsNotReadyError";
}

export interface AgentsWait {
	readonly timeoutMs: number;
	readonly signal: AbortSignal;
	readonly tell: (line: string) => void;
}

const pollMs = 500;

/** Throws AgentsNotReadyError after the timeout. Also rejects if the signal aborts. */
export async function waitForAgents(context: KubeContext, { timeoutMs, signal, tell }: AgentsWait): Promise<void> {
	const { client, name, agents, suggest } = context;
	const path = `/apis/apps/v1/namespaces/${agents.namespace}/deployments/${agentName}`;
	const deadline = performance.now() + timeoutMs;
	for (let told = ""; ; ) {
		const deployment = await installStep(context, "read the agents", client.get<V1Deployment>(path, { signal }));
		const progress = rolloutProgress(deployment);
		if (progress !== told) tell(`${name}  ${progress ?? "agents are ready"}`);
		if (progress === undefined) return;
		told = progress;
		if (performance.now() > deadline) {
			const seconds = Math.round(timeoutMs / 1_000);
			const why = await explainPods(context, deployment);
			const look = ["describe", "pods", "-n", agents.namespace, "-l", `${agentLabel}=${agentName}`];
			throw new AgentsNotReadyError(
				`${name}: after ${seconds} s ${progress}${why}; see ${suggest.kubectl(look, name)}`,
			);
		}
		await delay(pollMs, undefined, { signal });
	}
}

/** Returns what is still missing; undefined if all agents are up to date and available. */
export function rolloutProgress({ metadata, spec, status }: V1Deployment): string | undefined {
	const wanted = spec?.replicas ?? 1;
	const { updatedReplicas = 0, availableReplicas = 0, replicas = 0, observedGeneration = 0 } = status ?? {};
	if (observedGeneration < (metadata?.generation ?? 0)) return "agents are about to start";
	if (updatedReplicas < wanted) return `${updatedReplicas} of ${wanted} agents are up to date`;
	if (replicas > updatedReplicas) return `${replicas - updatedReplicas} old agents are about to end`;
	return availableReplicas < updatedReplicas ? `${availableReplicas} of ${wanted} agents are ready` : undefined;
}

async function explainPods(context: KubeContext, { status }: V1Deployment): Promise<string> {
	const { client, agents } = context;
	const pods = await installStep(
		context,
		"list the agents' pods",
		client.list<V1Pod>(`/api/v1/namespaces/${agents.namespace}/pods`, { labelSelector: `${agentLabel}=${agentName}` }),
	);
	// The reason if a policy or a quota prevents the pods from being created.
	const unmade = status?.conditions?.find((each) => each.type === "ReplicaFailure" && each.status === "True")?.message;
	const reasons = new Set([unmade, ...pods.map(podProblem)].filter((reason) => reason !== undefined));
	return reasons.size === 0 ? "" : ` (${[...reasons].join("; ")})`;
}

function podProblem({ status }: V1Pod): string | undefined {
	for (const { state, lastState } of status?.containerStatuses ?? []) {
		const ended = lastState?.terminated?.message ?? lastState?.terminated?.reason;
		if (state?.waiting?.reason !== undefined) {
			const { reason, message } = state.waiting;
			return [reason, message ?? ended].filter((text) => text !== undefined).join(": ");
		}
	}
	return status?.conditions?.find(({ type, status: holds }) => type === "PodScheduled" && holds === "False")?.message;
}

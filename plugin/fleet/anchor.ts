// Reads from a context's API server where its cluster's agents are, and how to verify them. No other source is trusted for this.
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { StepError, step } from "./access-step.ts";
import { type AgentPlaces, type AgentPod, type DialedAhead, findAgentPlaces, findAgentPods } from "./agent-pods.ts";
import { dialLastAgent } from "./last-agent.ts";

const caConfigMap = "xpdb-ca";
const caKey = "ca.crt";

export interface ClusterIdentity {
	/** The CA of the agents' certificates. */
	readonly ca: Promise<string>;
	readonly clusterId: Promise<string>;
}

export interface Anchor extends ClusterIdentity {
	readonly places: Promise<AgentPlaces>;
	/** The agents in the anchor's namespace. */
	readonly pods: Promise<readonly AgentPod[]>;
	/** A connection to the agent that an earlier command used. The caller must use it or close it. */
	readonly dialed?: DialedAhead | undefined;
}

/** Sends all requests in parallel, because a round trip costs more than an unneeded answer. Each promise rejects with its own error. */
export function readAnchor(context: KubeContext): Anchor {
	const { client, agents } = context;
	return {
		// May reject: clusters outside every fleet often forbid this read.
		places: forLater(findAgentPlaces(client, agents.namespace)),
		pods: forLater(findAgentPods(client, [agents.namespace])),
		...readIdentity(context),
		dialed: dialLastAgent(context),
	};
}

export function readIdentity(context: KubeContext): ClusterIdentity {
	return { ca: forLater(readCa(context)), clusterId: forLater(readClusterId(context)) };
}

/** Marks the promise as handled, because it may reject before a caller awaits it. */
function forLater<T>(answer: Promise<T>): Promise<T> {
	answer.catch(() => undefined);
	return answer;
}

async function readCa(context: KubeContext): Promise<string> {
	const { namespace } = context.agents;
	const map = await step(
		context,
		`read the agents' CA from ConfigMap ${namespace}/${caConfigMap}`,
		context.client.get<{ readonly data?: Readonly<Record<string, string>> }>(
			`/api/v1/namespaces/${namespace}/configmaps/${caConfigMap}`,
		),
	);
	const ca = map.data?.[caKey] ?? "";
	if (ca === "") throw new StepError(`ConfigMap ${namespace}/${caConfigMap} has no ${caKey}: fill in the fleet's CA`);
	return ca;
}

/** Returns the cluster's id from its API server, so that no agent can forge it. */
async function readClusterId(context: KubeContext): Promise<string> {
	const namespace = await step(
		context,
		"read the cluster's id, the UID of namespace kube-system",
		context.client.get<{ readonly metadata?: { readonly uid?: string } }>("/api/v1/namespaces/kube-system"),
	);
	const uid = namespace.metadata?.uid;
	if (typeof uid !== "string" || uid === "") throw new StepError("namespace kube-system has no UID");
	return uid;
}

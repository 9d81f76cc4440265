// What a context's API server says of its cluster's agents, for nobody else could: who they are, and how their word is checked.
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { StepError, step } from "./access-step.ts";
import { type AgentPlaces, type AgentPod, type DialedAhead, findAgentPlaces, findAgentPods } from "./agent-pods.ts";
import { dialLastAgent } from "./last-agent.ts";

const caConfigMap = "xpdb-ca";
const caKey = "ca.crt";

export interface ClusterIdentity {
	/** Of the agents' certificates. */
	readonly ca: Promise<string>;
	readonly clusterId: Promise<string>;
}

export interface Anchor extends ClusterIdentity {
	/** Where agents are. */
	readonly places: Promise<AgentPlaces>;
	/** In the agents' own namespace. */
	readonly pods: Promise<readonly AgentPod[]>;
	/** The agent of an earlier call. Whoever reads the anchor uses it, or hangs up. */
	readonly dialed?: DialedAhead | undefined;
}

/** Asks for all of it side by side, because a round trip costs more than what is not needed. Whoever awaits one of them hears why it failed. */
export function readAnchor(context: KubeContext): Anchor {
	const { client, agents } = context;
	return {
		// A cluster that has nothing to do with us may well forbid to read what is not there.
		places: forLater(findAgentPlaces(client, agents.namespace)),
		pods: forLater(findAgentPods(client, [agents.namespace])),
		...readIdentity(context),
		dialed: dialLastAgent(context),
	};
}

export function readIdentity(context: KubeContext): ClusterIdentity {
	return { ca: forLater(readCa(context)), clusterId: forLater(readClusterId(context)) };
}

/** Nobody may be waiting yet when it fails. */
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

/** The cluster's id as the API server has it, which no agent can make up. */
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

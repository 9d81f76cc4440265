// Asks each ready agent of a cluster separately, because they may differ in version, clock or certificate.
import type { AgentDescription } from "../../proto/agent-cluster.ts";
import { describeAgent } from "../../proto/remote-cluster.ts";
import { accessAgent } from "../fleet/agent-access.ts";
import { type AgentPod, findAgentPods } from "../fleet/agent-pods.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import type { Reading } from "./check-report.ts";
import { type ClockReading, clockReading } from "./clock-reading.ts";
import { type AgentsOfCluster, read } from "./read-cluster.ts";

export interface AgentOfCluster {
	/** For example "pod xpdb-system/xpdb-agent-0". */
	readonly who: string;
	readonly said: Reading<SaidByAgent>;
}

interface SaidByAgent {
	readonly description: AgentDescription;
	/** Undefined if the agent does not report its clock. */
	readonly clock: ClockReading | undefined;
}

/**
 * Asks the ready agents, because the others serve no calls. If an agent ends in the meantime, for example in an upgrade or a drain, its
 * replacement is asked instead.
 */
export async function askEachAgent(
	context: KubeContext,
	{ namespaces, pods }: AgentsOfCluster,
): Promise<readonly AgentOfCluster[]> {
	const ready = pods.filter((pod) => pod.ready);
	const asked = await Promise.all(
		ready.map(async (pod) => ({ pod, agent: await askAgentOf(pod, { context, namespaces }) })),
	);
	const all = asked.map(({ agent }) => agent);
	if (all.every(({ said }) => said.kind === "read")) return all;
	const now = await findAgentPods(context.client, namespaces).catch(() => undefined);
	if (!now) return all;
	const stay = asked.filter(({ pod, agent }) => agent.said.kind === "read" || now.some(({ uid }) => uid === pod.uid));
	if (stay.length === asked.length) return all;
	const newcomers = now.filter(({ uid }) => ready.every((pod) => pod.uid !== uid));
	return [...stay.map(({ agent }) => agent), ...(await askEachAgent(context, { namespaces, pods: newcomers }))];
}

async function askAgentOf(
	pod: AgentPod,
	{ context, namespaces }: { readonly context: KubeContext; readonly namespaces: readonly string[] },
): Promise<AgentOfCluster> {
	const who = `pod ${pod.namespace}/${pod.name}`;
	const access = await accessAgent(context, namespaces, pod);
	if (access.kind === "failed") return { who, said: { kind: "unread", why: access.problem } };
	try {
		// The connection already exists, so the reading of the clock is off by at most one round trip.
		const askedAt = Date.now();
		const said = await read(describeAgent(access.client, { name: context.name }));
		if (said.kind === "unread") return { who, said };
		const { value: description } = said;
		const clock =
			description.clockMs === undefined
				? undefined
				: clockReading(description.clockMs, { askedAt, answeredAt: Date.now() });
		return { who, said: { kind: "read", value: { description, clock } } };
	} finally {
		access.close();
	}
}

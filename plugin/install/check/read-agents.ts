// What each agent of a cluster says of itself: the others may be of another version, or have another clock or certificate.
import type { AgentDescription } from "../../../proto/agent-cluster.ts";
import { describeAgent } from "../../../proto/remote-cluster.ts";
import { accessAgent } from "../../fleet/agent-access.ts";
import type { KubeContext } from "../../kubernetes/kube-context.ts";
import type { Reading } from "./check-report.ts";
import { type ClockReading, clockReading } from "./clock-reading.ts";
import { type AgentsOfCluster, read } from "./read-cluster.ts";

export interface AgentOfCluster {
	/** "pod xpdb-system/xpdb-agent-0". */
	readonly who: string;
	readonly said: Reading<SaidByAgent>;
}

interface SaidByAgent {
	readonly description: AgentDescription;
	/** Undefined of an agent that does not tell. */
	readonly clock: ClockReading | undefined;
}

/** Those that are ready: others answer nobody. */
export async function askEachAgent(
	context: KubeContext,
	{ namespaces, pods }: AgentsOfCluster,
): Promise<readonly AgentOfCluster[]> {
	return Promise.all(
		pods
			.filter(({ ready }) => ready)
			.map(async (pod): Promise<AgentOfCluster> => {
				const who = `pod ${pod.namespace}/${pod.name}`;
				const access = await accessAgent(context, namespaces, pod);
				if (access.kind === "failed") return { who, said: { kind: "unread", why: access.problem } };
				try {
					// By a connection that stands, so that it takes one round trip.
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
			}),
	);
}

// Reads the TLS certificates that each ready agent of a cluster uses. Each agent is called through its own port-forward, so it answers for
// itself.
import { agentServerName, createAgentClient, createTokenSource } from "../../proto/credentials.ts";
import { describeAgent } from "../../proto/remote-cluster.ts";
import { findAgentNamespaces, findAgentPods } from "../fleet/agent-pods.ts";
import { createTokenIssuer } from "../fleet/agent-token.ts";
import { createTunnel } from "../fleet/tunnel.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { dialPod } from "../kubernetes/port-forward.ts";
import type { SeenAgent } from "./rotate-certificates.ts";

/** `ca`: all CAs that may have signed the agents' certificates. Rejects if an agent cannot be asked. */
export async function readAgentCertificates(
	context: KubeContext,
	{ clusterId, ca }: { readonly clusterId: string; readonly ca: string },
): Promise<readonly SeenAgent[]> {
	const { client, agents } = context;
	const pods = await findAgentPods(client, await findAgentNamespaces(client, agents.namespace));
	const token = createTokenSource(createTokenIssuer(context));
	return Promise.all(
		pods
			.filter(({ ready }) => ready)
			.map(async (pod): Promise<SeenAgent> => {
				const tunnel = await createTunnel(async (socket) => void (await dialPod(client, pod)).join(socket));
				const agent = createAgentClient({
					address: tunnel.address,
					serverName: agentServerName(agents.namespace),
					ca,
					identity: { kind: "token", token },
					member: clusterId,
				});
				try {
					const { certificates } = await describeAgent(agent, { name: `${context.name} (${pod.name})` });
					return { name: pod.name, certificates };
				} finally {
					agent.close();
					tunnel.close();
				}
			}),
	);
}

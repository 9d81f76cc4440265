// Reads the TLS certificates that each ready agent of a cluster uses. Each agent is called through its own port-forward, so it answers for
// itself.
import { agentServerName, createAgentClient, createTokenSource } from "../../proto/credentials.ts";
import { describeAgent } from "../../proto/remote-cluster.ts";
import { step } from "../fleet/access-step.ts";
import { findAgentNamespaces, findAgentPods } from "../fleet/agent-pods.ts";
import { createTokenIssuer } from "../fleet/agent-token.ts";
import { createTunnel } from "../fleet/tunnel.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { dialPod } from "../kubernetes/port-forward.ts";
import type { SeenAgent } from "./rotate-certificates.ts";

/**
 * `ca`: all CAs that may have signed the agents' certificates. Rejects if an agent cannot be asked: with StepError if the API server refuses
 * a token or a port-forward, which gRPC would report as an agent that does not answer.
 */
export async function readAgentCertificates(
	context: KubeContext,
	{ clusterId, ca }: { readonly clusterId: string; readonly ca: string },
): Promise<readonly SeenAgent[]> {
	const { client, agents } = context;
	const pods = await findAgentPods(client, await findAgentNamespaces(client, agents.namespace));
	const ready = pods.filter((pod) => pod.ready);
	if (ready.length === 0) return [];
	const token = createTokenSource(createTokenIssuer(context));
	await token();
	return Promise.all(
		ready.map(async (pod): Promise<SeenAgent> => {
			let refusal: unknown;
			const tunnel = await createTunnel(async (socket) => {
				try {
					const dialed = dialPod(client, pod);
					const connection = await step(context, `open a port-forward to pod ${pod.namespace}/${pod.name}`, dialed);
					refusal = undefined;
					void connection.join(socket);
				} catch (error) {
					refusal = error;
					throw error;
				}
			});
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
			} catch (error) {
				throw refusal ?? error;
			} finally {
				agent.close();
				tunnel.close();
			}
		}),
	);
}

// Dials the agent that answered last, before the API server has said which agents exist. This saves the wait for one answer.
//
// Guarantee: the kept entry only says where to dial. The connection is used only if the list of pods that this command reads shows that
// very pod, by its uid, as ready (connect-ahead.ts, AgentDialer). The agent's certificate is checked like any other. The pod's name led to
// no other pod meanwhile, because the pod existed before this command and is still listed.
import { isRecord } from "../../disruption/record.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { type AgentPod, type DialedAhead, dialAhead } from "./agent-pods.ts";

type Kept = Pick<AgentPod, "name" | "uid" | "port">;

/** Undefined if no agent is known. */
export function dialLastAgent(context: KubeContext): DialedAhead | undefined {
	const kept = readKept(context.lastAgent?.read());
	return kept && dialAhead(context.client, { namespace: context.agents.namespace, ...kept });
}

/** Keeps the agent for the next command. Agents in other namespaces are not kept, because the anchor must name their namespaces first. */
export function keepLastAgent({ lastAgent, agents }: KubeContext, { namespace, name, uid, port }: AgentPod): void {
	if (!lastAgent || namespace !== agents.namespace) return;
	const kept = readKept(lastAgent.read());
	if (kept?.name === name && kept.uid === uid && kept.port === port) return;
	lastAgent.write({ name, uid, port });
}

function readKept(value: unknown): Kept | undefined {
	if (!isRecord(value)) return undefined;
	const { name, uid, port } = value;
	// The name becomes part of a URL path.
	if (typeof name !== "string" || !/^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/.test(name)) return undefined;
	if (typeof uid !== "string" || typeof port !== "number" || !Number.isInteger(port) || port < 1 || port > 65_535)
		return undefined;
	return { name, uid, port };
}

// The agent that answered last, dialed before the API server has said who the agents are: one answer less stands in a row.
//
// Guarantee: what is kept says where to dial, and nothing else. The connection is used only where the list of this call has that very pod, by
// its uid and ready (begin-way.ts, AgentDialer), and its certificate is checked like any. It held the name before this call began, and holds
// it in the list, so the name led to no other pod meanwhile.
import { isRecord } from "../../disruption/record.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { type AgentPod, type DialedAhead, dialAhead } from "./agent-pods.ts";

type Kept = Pick<AgentPod, "name" | "uid" | "port">;

/** Undefined where none is known. */
export function dialLastAgent(context: KubeContext): DialedAhead | undefined {
	const kept = readKept(context.lastAgent?.read());
	return kept && dialAhead(context.client, { namespace: context.agents.namespace, ...kept });
}

/** For the next call. Agents elsewhere are known only when the anchor has named their namespaces. */
export function keepLastAgent({ lastAgent, agents }: KubeContext, { namespace, name, uid, port }: AgentPod): void {
	if (!lastAgent || namespace !== agents.namespace) return;
	const kept = readKept(lastAgent.read());
	if (kept?.name === name && kept.uid === uid && kept.port === port) return;
	lastAgent.write({ name, uid, port });
}

function readKept(value: unknown): Kept | undefined {
	if (!isRecord(value)) return undefined;
	const { name, uid, port } = value;
	// It becomes part of a path.
	if (typeof name !== "string" || !/^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/.test(name)) return undefined;
	if (typeof uid !== "string" || typeof port !== "number" || !Number.isInteger(port) || port < 1 || port > 65_535)
		return undefined;
	return { name, uid, port };
}

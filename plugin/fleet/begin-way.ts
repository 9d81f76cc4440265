// What takes as long as the rest of what an API server is asked of its agents, and needs nothing of it: a connection to an agent, and a token.
//
// Guarantee: nothing goes through the connection, and the token is shown to nobody, before the rest is known: whose agents they are, which
// certificates theirs are, and which cluster it is.
import { createTokenSource } from "../../proto/credentials.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { dialPod } from "../kubernetes/port-forward.ts";
import type { AgentPod, DialedAhead } from "./agent-pods.ts";
import { createTokenIssuer } from "./agent-token.ts";

export interface BegunWay {
	/** Whoever has it uses it, or hangs up. */
	readonly ahead: DialedAhead;
	readonly login: Login;
}

export interface Login {
	readonly token: () => Promise<string>;
	/** It may be rejected before anybody awaits it. */
	readonly first: Promise<string>;
}

/** `listed`: as findAgentPods() has them. Undefined where none of them is ready. */
export async function beginWay(
	context: KubeContext,
	listed: Promise<readonly AgentPod[]>,
): Promise<BegunWay | undefined> {
	const [pod] = await listed.catch(() => []);
	if (!pod?.ready) return undefined;
	const connection = dialPod(context.client, pod);
	connection.catch(() => undefined);
	return { ahead: { uid: pod.uid, connection }, login: logIn(context) };
}

export function logIn(context: KubeContext): Login {
	const token = createTokenSource(createTokenIssuer(context));
	const first = token();
	first.catch(() => undefined);
	return { token, first };
}

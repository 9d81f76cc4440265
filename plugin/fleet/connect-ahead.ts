// Opens a connection to an agent and requests a token, while other requests to the API server are still running.
//
// Guarantee: before the other answers are known, nothing is sent through the connection, and no agent sees the token. Those answers give
// the namespaces of agents, the CA and the cluster's id.
import { createTokenSource } from "../../proto/credentials.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { hangUp } from "../kubernetes/port-forward.ts";
import { type DialedAhead, dialAhead } from "./agent-pods.ts";
import { createTokenIssuer } from "./agent-token.ts";
import type { Anchor } from "./anchor.ts";

export interface ConnectionAhead {
	/** The caller must use the connection or close it. */
	readonly ahead: DialedAhead;
	readonly login: Login;
}

export interface Login {
	readonly token: () => Promise<string>;
	/** The promise may reject before a caller awaits it. */
	readonly first: Promise<string>;
}

/**
 * Uses `dialed` if it leads to a ready agent. Otherwise closes it and dials a ready agent. Also requests a token. Undefined if no agent is
 * ready.
 */
export async function connectAhead(
	context: KubeContext,
	{ pods, dialed }: Pick<Anchor, "pods" | "dialed">,
): Promise<ConnectionAhead | undefined> {
	const early = dialed && logIn(context);
	const ready = (await pods.catch(() => [])).filter((pod) => pod.ready);
	const isDialed = ready.some(({ uid }) => uid === dialed?.uid);
	if (dialed && !isDialed) hangUp(dialed.connection);
	const [first] = ready;
	if (!first) return undefined;
	return { ahead: dialed && isDialed ? dialed : dialAhead(context.client, first), login: early ?? logIn(context) };
}

export function logIn(context: KubeContext): Login {
	const token = createTokenSource(createTokenIssuer(context));
	const first = token();
	first.catch(() => undefined);
	return { token, first };
}

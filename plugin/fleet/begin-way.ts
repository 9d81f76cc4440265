// What takes as long as the rest of what an API server is asked of its agents, and needs nothing of it: a connection to an agent, and a token.
//
// Guarantee: nothing goes through the connection, and the token is shown to nobody, before the rest is known: whose agents they are, which
// certificates theirs are, and which cluster it is.
import { createTokenSource } from "../../proto/credentials.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { hangUp } from "../kubernetes/port-forward.ts";
import { type DialedAhead, dialAhead } from "./agent-pods.ts";
import { createTokenIssuer } from "./agent-token.ts";
import type { Anchor } from "./anchor.ts";

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

/** Undefined where no agent is ready. One that was dialed before they were listed has been hung up then, as where it is none of them. */
export async function beginWay(
	context: KubeContext,
	{ pods, dialed }: Pick<Anchor, "pods" | "dialed">,
): Promise<BegunWay | undefined> {
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

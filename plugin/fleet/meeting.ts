// How a run meets the agents of a context: who they are, and with the same question what the other members say and which budgets
// there are.
//
// Guarantee: an answer is as old as the question, never younger. An agent's own word comes before what another one heard of it, and
// what nobody said is left out, so that it is asked for.
import { AgentUnavailableError } from "../../disruption/errors.ts";
import type { AgentDescription, Introduction } from "../../proto/agent-cluster.ts";
import type { AgentServiceClient } from "../../proto/gen/xpdb/v1/agent.ts";
import { describeAgent } from "../../proto/remote-cluster.ts";
import type { MeetingQuestion } from "../../proto/wire-description.ts";
import { runClock } from "../kubernetes/run-clock.ts";
import type { AgentDialer } from "./agent-pods.ts";

/** One connection more than a moved agent needs: the first call after a broken tunnel fails. */
const attempts = 3;
/** A channel connects anew 0.1 s after a connection has failed. */
const connectWithinMs = 500;

export interface Meeting {
	readonly description: Introduction;
	/** By runClock(), before it was asked. */
	readonly askedAt: number;
	readonly tookMs: number;
}

/** What one member said, and how long the answer took that it came in. */
export interface Said {
	readonly description: AgentDescription;
	readonly tookMs: number;
}

/** `name`: of the context, for people. Rejects with AgentUnavailableError where no attempt got an answer. */
export async function meet(
	client: AgentServiceClient,
	{
		name,
		dialer,
		question,
	}: { readonly name: string; readonly dialer: Pick<AgentDialer, "problem">; readonly question: MeetingQuestion },
): Promise<Meeting> {
	for (let attempt = 1; ; attempt += 1) {
		try {
			return await askAgent(client, name, question);
		} catch (error) {
			if (!(error instanceof AgentUnavailableError)) throw error;
			if (attempt < attempts) {
				// Until the next connection is made or has failed too: a call before then fails by itself.
				await connected(client, connectWithinMs);
				continue;
			}
			// The API server was just asked, and did answer.
			const silent = error.silent === "apiServer" ? "apiServer" : "agent";
			const why = dialer.problem ?? error.message;
			throw new AgentUnavailableError(`the agent gave no answer: ${why}`, name, { cause: error, silent });
		}
	}
}

async function connected(client: AgentServiceClient, withinMs: number): Promise<void> {
	await new Promise<void>((resolve) => {
		client.waitForReady(Date.now() + withinMs, () => resolve());
	});
}

/** Once, of `name` for people. */
export async function askAgent(
	client: AgentServiceClient,
	name: string,
	question: MeetingQuestion = {},
): Promise<Meeting> {
	const askedAt = runClock();
	const description = await describeAgent(client, { name, ...question });
	return { description, askedAt, tookMs: runClock() - askedAt };
}

/** By cluster id. */
export function saidWhenMet(meetings: readonly Meeting[]): ReadonlyMap<string, Said> {
	const heard = meetings.flatMap(({ description: { others = [] }, tookMs }) =>
		others.map((description) => ({ description, tookMs })),
	);
	return new Map([...heard, ...meetings].map((said) => [said.description.clusterId, said]));
}

// Asks the agents of a context to describe themselves and, on request, the other members and their budgets.
//
// Guarantee: an answer counts as being as old as its question, never younger. What an agent reports about itself takes precedence over what
// another agent heard from it. A member without a report is left out, so that it is asked directly.
import { AgentUnavailableError } from "../../disruption/errors.ts";
import type { AgentDescription, Introduction } from "../../proto/agent-cluster.ts";
import type { AgentServiceClient } from "../../proto/gen/xpdb/v1/agent.ts";
import { describeAgent } from "../../proto/remote-cluster.ts";
import type { MeetingQuestion } from "../../proto/wire-description.ts";
import { runClock } from "../kubernetes/run-clock.ts";
import type { AgentDialer } from "./agent-pods.ts";

/** After a broken tunnel, the first call fails, and the second reaches another agent. The third allows for one more failure. */
const attempts = 3;
/** A gRPC channel reconnects 0.1 s after a connection has failed. */
const connectWithinMs = 500;

export interface Meeting {
	readonly description: Introduction;
	/** By runClock(), before the question was sent. */
	readonly askedAt: number;
	readonly tookMs: number;
}

/** `tookMs`: how long the answer with the description took. */
export interface Said {
	readonly description: AgentDescription;
	readonly tookMs: number;
}

/**
 * Asks until an attempt gets an answer. `name`: the context's name, for messages. Rejects with AgentUnavailableError if no attempt does.
 */
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
				// A call before the channel has reconnected would fail at once.
				await connected(client, connectWithinMs);
				continue;
			}
			// If the API server is not known to be silent, the agent is at fault, because the API server has just answered another request.
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

/** `name` is for messages. */
export async function askAgent(
	client: AgentServiceClient,
	name: string,
	question: MeetingQuestion = {},
): Promise<Meeting> {
	const askedAt = runClock();
	const description = await describeAgent(client, { name, ...question });
	return { description, askedAt, tookMs: runClock() - askedAt };
}

/** Returns the description of each member, by cluster id. What the member reported itself takes precedence. */
export function descriptionsById(meetings: readonly Meeting[]): ReadonlyMap<string, Said> {
	const heard = meetings.flatMap(({ description: { others = [] }, tookMs }) =>
		others.map((description) => ({ description, tookMs })),
	);
	return new Map([...heard, ...meetings].map((said) => [said.description.clusterId, said]));
}

// Asks the agents of a context who they are. The same question can also ask what the other members report and which budgets exist.
//
// Guarantee: an answer counts as being as old as its question, never younger. What an agent reports about itself takes precedence over what
// another agent heard from it. If no agent reported on a member, the member is left out, so that it is asked directly.
import { AgentUnavailableError } from "../../disruption/errors.ts";
import type { AgentDescription, Introduction } from "../../proto/agent-cluster.ts";
import type { AgentServiceClient } from "../../proto/gen/xpdb/v1/agent.ts";
import { describeAgent } from "../../proto/remote-cluster.ts";
import type { MeetingQuestion } from "../../proto/wire-description.ts";
import { runClock } from "../kubernetes/run-clock.ts";
import type { AgentDialer } from "./agent-pods.ts";

/** One more than needed for an agent that moved: the first call after a broken tunnel fails. */
const attempts = 3;
/** A gRPC channel reconnects 0.1 s after a connection has failed. */
const connectWithinMs = 500;

export interface Meeting {
	readonly description: Introduction;
	/** By runClock(), taken before the question was sent. */
	readonly askedAt: number;
	readonly tookMs: number;
}

/** What one member reported, and how long the answer that contains it took. */
export interface Said {
	readonly description: AgentDescription;
	readonly tookMs: number;
}

/**
 * Asks the agents of a context, and asks again if no answer comes. `name`: the context's name, for messages. Rejects with
 * AgentUnavailableError if no attempt got an answer.
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
				// Wait until the channel has reconnected, for 0.5 s at most. An earlier call would fail at once.
				await connected(client, connectWithinMs);
				continue;
			}
			// Otherwise blame the agent: the API server has just answered another request.
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

/** Asks once. `name` is for messages. */
export async function askAgent(
	client: AgentServiceClient,
	name: string,
	question: MeetingQuestion = {},
): Promise<Meeting> {
	const askedAt = runClock();
	const description = await describeAgent(client, { name, ...question });
	return { description, askedAt, tookMs: runClock() - askedAt };
}

/** Returns what is known of each member, by cluster id. What it reported itself takes precedence. */
export function descriptionsById(meetings: readonly Meeting[]): ReadonlyMap<string, Said> {
	const heard = meetings.flatMap(({ description: { others = [] }, tookMs }) =>
		others.map((description) => ({ description, tookMs })),
	);
	return new Map([...heard, ...meetings].map((said) => [said.description.clusterId, said]));
}

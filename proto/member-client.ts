// Reaches a member of the fleet by one of several routes: through its own agents, or through another member's agent, which forwards the
// call.
//
// Guarantee: a call that takes, holds or gives back something is sent once, and so are count, confirm and a watch. If the answer is
// missing, that is an error. Every other call takes nothing. It is sent again by the same route if its connection was dropped before the
// answer came, because agents may be replaced at any time. The answer is always the agent's own, but the request may be sent later than the
// caller made it. So a caller that relies on the age of an answer measures from its own request. After a call without an answer, only the
// next call takes another route. The exception is describe, which goes on to the next route by itself if the client was created with more
// than one try.
import { setTimeout as delay } from "node:timers/promises";
import { status } from "@grpc/grpc-js";
import { AgentUnavailableError } from "../disruption/errors.ts";
import { Semaphore } from "../disruption/round/semaphore.ts";
import type { AgentCluster } from "./agent-cluster.ts";
import { type ClusterQuestion, clusterBehind } from "./forwarding-cluster.ts";

export interface Route {
	readonly calls: AgentCluster;
	/** Finds out which component was silent if a call got no answer. Resolves with the error to throw. */
	readonly diagnose?: (error: AgentUnavailableError) => Promise<AgentUnavailableError>;
}

interface CallPolicy {
	/** The call takes nothing, so it may be sent again. */
	readonly again: boolean;
	/** Many such calls come at once: a look for each budget of a table, a confirm for each pod of a node. Only a few run at a time. */
	readonly crowd: boolean;
	/** The call may be tried `tries` times in all, each time by the next route. */
	readonly reroutes?: boolean;
}

/**
 * A round makes the first five calls for each of its budgets. What they take, renew or give back must not wait behind many other calls. A
 * watch never ends, so it would keep its place forever.
 */
const policies: Readonly<Record<ClusterQuestion, CallPolicy>> = {
	acquire: { again: false, crowd: false },
	count: { again: false, crowd: false },
	renew: { again: false, crowd: false },
	commit: { again: false, crowd: false },
	release: { again: false, crowd: false },
	watchBudgets: { again: false, crowd: false },
	confirm: { again: false, crowd: true },
	cancel: { again: false, crowd: true },
	endHolding: { again: false, crowd: true },
	look: { again: true, crowd: true },
	// The first call between two agents waits for their connection, which can outlast the call's timeout on a busy machine.
	describe: { again: true, crowd: true, reroutes: true },
	listBudgets: { again: true, crowd: true },
	listLeases: { again: true, crowd: true },
};

/** An agent reads or queues at most 100 calls of one caller. With one context, the calls to all members go to one agent. */
const crowdAtOnce = 24;
/** Long enough for another agent to replace one that stops, and short enough to leave the caller time for the answer. */
const againWithinMs = 800;
/** A channel reconnects 0.1 s after a connection has failed. */
const againAfterMs = 100;

/** All `routes` lead to the same cluster, the best one first. `tries` limits how often describe is tried. */
export function createMemberClient({
	id,
	name,
	routes,
	tries = 1,
}: Pick<AgentCluster, "id" | "name"> & { readonly routes: readonly Route[]; readonly tries?: number }): AgentCluster {
	const places = new Semaphore(crowdAtOnce);
	let current = 0;

	async function ask<T>(put: (calls: AgentCluster) => Promise<T>, { again, reroutes = false }: CallPolicy): Promise<T> {
		for (let tried = 1; ; tried += 1) {
			const index = current;
			const route = routes[index];
			if (!route) throw new AgentUnavailableError(`cannot reach cluster "${name}": no route leads there`, name);
			try {
				return await (again ? putAgain(() => put(route.calls)) : put(route.calls));
			} catch (error) {
				if (!(error instanceof AgentUnavailableError)) throw error;
				const diagnosed = (await route.diagnose?.(error)) ?? error;
				// Many calls may fail together. Only the first of them moves on to the next route.
				if (current === index) current = (index + 1) % routes.length;
				if (!reroutes || tried >= tries) throw diagnosed;
			}
		}
	}

	return clusterBehind({ id, name }, (put, question) => {
		const policy = policies[question];
		return policy.crowd ? places.run(() => ask(put, policy)) : ask(put, policy);
	});
}

async function putAgain<T>(put: () => Promise<T>): Promise<T> {
	const until = performance.now() + againWithinMs;
	for (let wasDropped = false; ; ) {
		try {
			return await put();
		} catch (error) {
			wasDropped ||= isDropped(error);
			if (!wasDropped || !hasNoAnswer(error) || performance.now() > until) throw error;
			await delay(againAfterMs);
		}
	}
}

/** Whether the connection ended while the call was on its way, in the words of grpc-js (subchannel-call.js). */
function isDropped(error: unknown): boolean {
	const { code, details } = causeOf(error);
	return code === status.UNAVAILABLE && (details === "Connection dropped" || details === "read ECONNRESET");
}

/** Whether there was no answer: the connection ended, or was not established yet. */
function hasNoAnswer(error: unknown): boolean {
	return error instanceof AgentUnavailableError && !error.told && causeOf(error).code === status.UNAVAILABLE;
}

/** Returns the error as grpc-js gave it, or {} if it is not from grpc-js. */
function causeOf(error: unknown): { readonly code?: unknown; readonly details?: unknown } {
	if (!(error instanceof AgentUnavailableError)) return {};
	const { cause } = error;
	return cause instanceof Error && "code" in cause && "details" in cause ? cause : {};
}

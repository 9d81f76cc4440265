// A member of the fleet that can be asked by more than one way: through its own agents, or through another member's, which passes the
// call on. What each call is allowed stands in one table.
//
// Guarantee: what takes, holds or gives back something, and what an eviction goes by (count, confirm), is put once; no answer stays an
// error there. A question that takes nothing is put again by the same way where the connection was dropped before its answer came, because
// agents may be replaced at any time; an answer that comes is the agent's own, to a question put later than the caller's: whoever goes by
// its age counts from its own. A call that got no answer fails; only the next one goes another way.
import { setTimeout as delay } from "node:timers/promises";
import { status } from "@grpc/grpc-js";
import { AgentUnavailableError } from "../disruption/errors.ts";
import { Semaphore } from "../disruption/round/semaphore.ts";
import type { AgentCluster } from "./agent-cluster.ts";
import { type ClusterQuestion, clusterBehind } from "./forwarding-cluster.ts";

/** One way to the member. */
export interface Route {
	readonly calls: AgentCluster;
	/** Finds out who was silent where a call got no answer: the error to throw. */
	readonly diagnose?: (error: AgentUnavailableError) => Promise<AgentUnavailableError>;
}

interface CallPolicy {
	/** It takes nothing, so it may be put twice. */
	readonly again: boolean;
	/** Such questions come in crowds, a look for each budget of a table, a confirm for each pod of a node: a few go at a time. */
	readonly crowd: boolean;
}

/**
 * A round asks the first ones once for each of its budgets, and what they take or keep alive must not wait for a crowd. A watch has no
 * end, and would keep its place for ever.
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
	describe: { again: true, crowd: true },
	listBudgets: { again: true, crowd: true },
	listLeases: { again: true, crowd: true },
};

/** An agent reads and lines up 100 of one caller, and with one context the questions to all members go to one agent. */
const crowdAtOnce = 24;
/** Whoever takes the place of an agent that goes is there already. Later than this the caller may have no time left for the answer. */
const againWithinMs = 800;
/** A channel connects anew 0.1 s after a connection has failed. */
const againAfterMs = 100;

/** `routes`: the best one first, all to the same cluster. */
export function createMemberClient({
	id,
	name,
	routes,
}: Pick<AgentCluster, "id" | "name"> & { readonly routes: readonly Route[] }): AgentCluster {
	const places = new Semaphore(crowdAtOnce);
	let current = 0;

	async function ask<T>(put: (calls: AgentCluster) => Promise<T>, { again }: CallPolicy): Promise<T> {
		const index = current;
		const route = routes[index];
		if (!route) throw new AgentUnavailableError(`Cannot reach cluster "${name}": no way leads there`, name);
		try {
			return await (again ? putAgain(() => put(route.calls)) : put(route.calls));
		} catch (error) {
			if (!(error instanceof AgentUnavailableError)) throw error;
			const diagnosed = (await route.diagnose?.(error)) ?? error;
			// Many calls may fail together; the first one moves on.
			if (current === index) current = (index + 1) % routes.length;
			throw diagnosed;
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

/** Whether the call was on its way when its connection ended, by what grpc-js says of it (subchannel-call.js). */
function isDropped(error: unknown): boolean {
	const { code, details } = causeOf(error);
	return code === status.UNAVAILABLE && (details === "Connection dropped" || details === "read ECONNRESET");
}

/** Nobody answered: the connection ended, or there was none yet. */
function hasNoAnswer(error: unknown): boolean {
	return error instanceof AgentUnavailableError && !error.told && causeOf(error).code === status.UNAVAILABLE;
}

/** As grpc-js gave it. */
function causeOf(error: unknown): { readonly code?: unknown; readonly details?: unknown } {
	if (!(error instanceof AgentUnavailableError)) return {};
	const { cause } = error;
	return cause instanceof Error && "code" in cause && "details" in cause ? cause : {};
}

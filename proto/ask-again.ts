// A member of the fleet whose agents may be replaced at any time: a question that takes nothing is put again where the connection was
// dropped before its answer came.
//
// Guarantee: what takes, holds or gives back something, and what an eviction goes by (count, confirm), is put once; no answer stays an error
// there. An answer that comes is the agent's own, to a question put later than the caller's: whoever goes by its age counts from its own.
import { setTimeout as delay } from "node:timers/promises";
import { status } from "@grpc/grpc-js";
import { AgentUnavailableError } from "../disruption/errors.ts";
import type { AgentCluster } from "./agent-cluster.ts";
import { type ClusterQuestion, clusterBehind } from "./forwarding-cluster.ts";

const takeNothing: ReadonlySet<ClusterQuestion> = new Set(["describe", "listBudgets", "listLeases", "look"]);

/** Whoever takes the place of an agent that goes is there already. Later than this the caller may have no time left for the answer. */
const againWithinMs = 800;
/** A channel connects anew 0.1 s after a connection has failed. */
const againAfterMs = 100;

export function askingAgain(cluster: AgentCluster): AgentCluster {
	return clusterBehind(cluster, async (put, question) => {
		if (!takeNothing.has(question)) return put(cluster);
		const until = performance.now() + againWithinMs;
		for (let wasDropped = false; ; ) {
			try {
				return await put(cluster);
			} catch (error) {
				wasDropped ||= isDropped(error);
				if (!wasDropped || !hasNoAnswer(error) || performance.now() > until) throw error;
				await delay(againAfterMs);
			}
		}
	});
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

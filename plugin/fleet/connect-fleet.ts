// Connects contexts to their fleet. The first requests to the API servers are sent before gRPC is loaded, because loading takes as long as
// their answers.
import { setImmediate as nextTurn } from "node:timers/promises";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { readAnchor } from "./anchor.ts";
import type { ConnectOptions, FleetConnection } from "./fleet.ts";

export const uncoveredWarning =
	"no xpdb agent and no XPodDisruptionBudget in this cluster: only its own PodDisruptionBudgets are obeyed";

/** For a context whose API server does not answer and in whose cluster nothing is evicted. */
export function throughOthersWarning(problem: string): string {
	return `its cluster is asked through the agents of the others: ${problem}`;
}

/**
 * Connects to the agents of every context and to every member of their fleet. Members that disagree about the fleet are asked again for
 * five seconds. Throws a FleetUncoveredError if they still disagree, or if a context or member is missing that `options` do not allow to be
 * missing. Throws a UsageError if two contexts lead to one cluster. The caller must close the fleet.
 */
export async function connectFleet(
	contexts: readonly KubeContext[],
	options: ConnectOptions = {},
): Promise<FleetConnection> {
	const anchors = contexts.map((context) => ({ context, anchor: readAnchor(context) }));
	// In this turn of the event loop, the new sockets connect, so that their TLS handshakes start before gRPC is loaded.
	await nextTurn();
	const { connectByAnchors } = await import("./fleet.ts");
	return connectByAnchors(anchors, options);
}

export interface Connecting {
	readonly connection: Promise<FleetConnection>;
	/** The names of contexts and members whose answers are outstanding. */
	readonly silent: ReadonlySet<string>;
}

export function beginConnecting(contexts: readonly KubeContext[], options: ConnectOptions = {}): Connecting {
	const silent = new Set<string>();
	return { connection: connectFleet(contexts, { ...options, silent }), silent };
}

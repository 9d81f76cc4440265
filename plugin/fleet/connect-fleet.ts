// Connects contexts to their fleet. It sends the first requests to the API servers before it loads gRPC, because loading takes as long as
// their answers.
import { setImmediate as nextTurn } from "node:timers/promises";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { readAnchor } from "./anchor.ts";
import type { ConnectOptions, FleetConnection } from "./fleet.ts";

/** The warning for a context whose cluster has neither agents nor budgets of ours. */
export const uncoveredWarning =
	"no xpdb agent and no XPodDisruptionBudget in this cluster: only its own PodDisruptionBudgets are obeyed";

/** The warning for a context whose API server does not answer and in which nothing has to be done. */
export function throughOthersWarning(problem: string): string {
	return `its cluster is asked through the agents of the others: ${problem}`;
}

/**
 * Connects to the agents of every context and to every member of their fleet. Throws a FleetUncoveredError that names each missing member,
 * unless `options` allow it to be missing. Throws a UsageError if two contexts lead to one cluster. Members that disagree about the fleet
 * are asked again for five seconds. The caller must close the fleet.
 */
export async function connectFleet(
	contexts: readonly KubeContext[],
	options: ConnectOptions = {},
): Promise<FleetConnection> {
	const anchors = contexts.map((context) => ({ context, anchor: readAnchor(context) }));
	// Give the new sockets a turn of the event loop to connect, so that their TLS handshakes start before gRPC is loaded.
	await nextTurn();
	const { connectByAnchors } = await import("./fleet.ts");
	return connectByAnchors(anchors, options);
}

/** A fleet whose members are still being contacted. */
export interface Connecting {
	readonly connection: Promise<FleetConnection>;
	/** The names of contexts and members whose answers are outstanding. */
	readonly silent: ReadonlySet<string>;
}

export function beginConnecting(contexts: readonly KubeContext[], options: ConnectOptions = {}): Connecting {
	const silent = new Set<string>();
	return { connection: connectFleet(contexts, { ...options, silent }), silent };
}

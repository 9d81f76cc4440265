// The way from contexts to their fleet. What the API servers are asked first is on its way before gRPC is loaded: it takes as long as their
// answers.
import { setImmediate as nextTurn } from "node:timers/promises";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { readAnchor } from "./anchor.ts";
import type { ConnectOptions, FleetConnection } from "./fleet.ts";

/** What a context without agents is told. */
export const uncoveredWarning =
	"no xpdb agent and no XPodDisruptionBudget in this cluster: only its own PodDisruptionBudgets are obeyed";

/** What a context is told whose API server does not answer, and in which nothing is to be done. */
export function throughOthersWarning(problem: string): string {
	return `its cluster is asked through the agents of the others: ${problem}`;
}

/**
 * Reaches the agents of every context and every member of their fleet. Throws FleetUncoveredError that names each one
 * missing, UsageError for two contexts of one cluster. Members who disagree about the fleet are asked anew, for five seconds.
 * What it returns must be closed.
 */
export async function connectFleet(
	contexts: readonly KubeContext[],
	options: ConnectOptions = {},
): Promise<FleetConnection> {
	const anchors = contexts.map((context) => ({ context, anchor: readAnchor(context) }));
	// In the first turn the sockets are connected, and say so in the next one, in which TLS begins.
	await nextTurn();
	const { connectByAnchors } = await import("./fleet.ts");
	return connectByAnchors(anchors, options);
}

/** A fleet that is being reached. */
export interface Connecting {
	readonly connection: Promise<FleetConnection>;
	/** The names of contexts and members whose answers are waited for at this moment. */
	readonly silent: ReadonlySet<string>;
}

export function beginConnecting(contexts: readonly KubeContext[], options: ConnectOptions = {}): Connecting {
	const silent = new Set<string>();
	return { connection: connectFleet(contexts, { ...options, silent }), silent };
}

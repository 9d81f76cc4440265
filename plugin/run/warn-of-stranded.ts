// Warns before a drain about agents and covered pods whose replacements would find no other node.
import type { DrainOptions } from "../drain/drain.ts";
import type { EventSink } from "../events/events.ts";
import type { Fleet } from "../fleet/fleet.ts";
import type { NodeTarget } from "../nodes/node-target.ts";
import { findStrandedPods, type StrandedQuery } from "../plan/find-stranded.ts";
import { strandedWarnings } from "../plan/stranded-pods.ts";
import { describeBriefly } from "./report-error.ts";

export interface ForeseenPods {
	/** Uids of pods whose replacements would find no node as things are. */
	readonly stranded: ReadonlySet<string>;
	/** How many pods the drain evicts from nodes of the fleet. 0 if unknown. */
	readonly going: number;
}

/** If pods, budgets or nodes cannot be read, warns of that instead, and lets the drain continue. */
export async function warnOfStranded(
	nodes: readonly NodeTarget[],
	fleet: Pick<Fleet, "memberOf" | "listBudgets" | "agentNamespaces">,
	options: DrainOptions & Pick<StrandedQuery, "onListed">,
	emit: EventSink,
): Promise<ForeseenPods> {
	const warn = { type: "diagnostic", level: "warning" } as const;
	try {
		const { pods, going, problems } = await findStrandedPods(nodes, fleet, { ...options, now: Date.now() });
		for (const message of problems) emit({ ...warn, message });
		for (const warning of strandedWarnings(pods)) emit({ ...warn, ...warning });
		const stranded = new Set(pods.flatMap(({ uid, placement }) => (placement.kind === "nowhere" ? [uid] : [])));
		return { stranded, going };
	} catch (error) {
		const message = `whether a node is left for the pods that go is not known: ${describeBriefly(error)}`;
		emit({ ...warn, message });
		return { stranded: new Set(), going: 0 };
	}
}

// Announces what a drain will do, before anything is changed.
import type { DrainOptions } from "../drain/drain.ts";
import type { RunEvent } from "../events/events.ts";
import type { Fleet } from "../fleet/fleet.ts";
import type { NodeTarget } from "../nodes/node-target.ts";
import { makePlan } from "../plan/make-plan.ts";
import { readFacts } from "../plan/read-facts.ts";
import { describeBriefly } from "./report-error.ts";

/** Returns a warning if there is no plan, because a drain does not depend on it. Undefined if `stop` aborted first. */
export async function planEvent(
	nodes: readonly NodeTarget[],
	fleet: Fleet | undefined,
	{ stop, ...options }: DrainOptions & { readonly stop: AbortSignal },
): Promise<RunEvent | undefined> {
	const stopped = new Promise<undefined>((resolve) => {
		stop.addEventListener("abort", () => resolve(undefined), { once: true });
	});
	return stop.aborted ? undefined : Promise.race([stopped, planned(nodes, fleet, options)]);
}

async function planned(
	nodes: readonly NodeTarget[],
	fleet: Fleet | undefined,
	options: DrainOptions,
): Promise<RunEvent> {
	const now = Date.now();
	try {
		const facts = await readFacts(nodes, Promise.resolve({ fleet, uncovered: [] }), { ...options, now });
		const { pods, impossible, seconds, nodes: planned } = makePlan(facts, { ...options, now });
		return {
			type: "plan",
			nodes: nodes.length,
			pods: pods.length + impossible.length,
			waits: pods.filter(({ waits }) => waits.length > 0).length,
			impossible: impossible.length,
			perNode: planned.map(({ context, node, pods }) => ({ context, node, pods })),
			// The plan's duration covers only pods that can be evicted.
			etaSeconds: [seconds.atLeast, impossible.length > 0 ? null : seconds.atMost],
		};
	} catch (error) {
		const message = `the plan could not be made: ${describeBriefly(error)}`;
		return { type: "diagnostic", level: "warning", message };
	}
}

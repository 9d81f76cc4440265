// A member of the fleet that can be asked by more than one way: through its own agents, or through another member's,
// which passes the call on. A call that got no answer fails; only the next one goes another way. Questions that
// come in crowds (a look for each budget of a table, a confirm for each pod of a node) go a few at a time: agents refuse who
// sends more at once than they can read.
import { AgentUnavailableError } from "../../disruption/errors.ts";
import type { AgentCluster } from "../../proto/agent-cluster.ts";
import { type ClusterQuestion, clusterBehind } from "../../proto/forwarding-cluster.ts";
import { Semaphore } from "../../disruption/semaphore.ts";

/** An agent reads and lines up 100 of one caller, and with one context the questions to all members go to one agent. */
const questionsAtOnce = 24;

/**
 * A round asks these once for each of its budgets, and what they take or keep alive must not wait for a crowd. A watch has no end, and
 * would keep its place for ever.
 */
const questionsWithoutLine: ReadonlySet<ClusterQuestion> = new Set([
	"acquire",
	"count",
	"renew",
	"commit",
	"release",
	"watchBudgets",
]);

/** `routes`: the best one first, at least one, all to the same cluster. */
export function createRoutedCluster({
	id,
	name,
	routes,
}: {
	readonly id: string;
	readonly name: string;
	readonly routes: readonly AgentCluster[];
}): AgentCluster {
	const places = new Semaphore(questionsAtOnce);
	let current = 0;

	async function ask<T>(put: (route: AgentCluster) => Promise<T>): Promise<T> {
		const index = current;
		const route = routes[index];
		if (!route) throw new AgentUnavailableError(`Cannot reach cluster "${name}": no way leads there`, name);
		try {
			return await put(route);
		} catch (error) {
			// Many calls may fail together; the first one moves on.
			if (error instanceof AgentUnavailableError && current === index) current = (index + 1) % routes.length;
			throw error;
		}
	}

	return clusterBehind({ id, name }, (put, question) =>
		questionsWithoutLine.has(question) ? ask(put) : places.run(() => ask(put)),
	);
}

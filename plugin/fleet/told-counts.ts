// Asks a member for the counts of all its budgets by one call: a watch that ends once the agent has told everything.
import { formatBudgetName } from "../../disruption/budget/budget.ts";
import type { Count } from "../../disruption/budget/cluster.ts";
import { AgentProtocolError } from "../../disruption/errors.ts";
import type { AgentCluster } from "../../proto/agent-cluster.ts";
import { mostBudgets } from "../../proto/most-budgets.ts";

/** By NAMESPACE/NAME. The counts of other budgets are not known, and have to be requested one by one. */
export type ToldCounts = ReadonlyMap<string, Count>;

/** An agent that tells its counts for longer than this may never end. */
const tellsForMs = 10_000;

/**
 * Returns the counts that the member tells of its budgets in these namespaces; an empty list means all namespaces. None if its agent is too
 * old for this call, or does not know its counts now. Rejects with the errors of watchBudgets(), and with AgentProtocolError if the member
 * tells of too many budgets.
 */
export async function readToldCounts(
	member: Pick<AgentCluster, "watchBudgets">,
	namespaces: readonly string[],
): Promise<ToldCounts> {
	const counts = new Map<string, Count>();
	const over = new AbortController();
	const { promise: told, resolve, reject } = Promise.withResolvers<void>();
	const timer = setTimeout(resolve, tellsForMs);
	const watching = member.watchBudgets(namespaces, {
		signal: over.signal,
		onUpdate: ({ changed, gone, complete, unknown }) => {
			for (const { budget, state } of changed) {
				if ("unknown" in state) counts.delete(formatBudgetName(budget.name));
				else counts.set(formatBudgetName(budget.name), state);
			}
			for (const name of gone) counts.delete(formatBudgetName(name));
			if (counts.size > mostBudgets) reject(new AgentProtocolError(`it counts more than ${mostBudgets} budgets`));
			if (unknown !== undefined) counts.clear();
			if (complete || unknown !== undefined) resolve();
		},
	});
	watching.then(() => resolve(), reject);
	try {
		await told;
		return counts;
	} finally {
		clearTimeout(timer);
		over.abort();
	}
}

// Asks a member for the counts of all its budgets by one call: a watch that ends once the agent has told everything.
import { type BudgetName, formatBudgetName } from "../../disruption/budget/budget.ts";
import type { Count } from "../../disruption/budget/cluster.ts";
import { AgentUnavailableError } from "../../disruption/errors.ts";
import type { AgentCluster } from "../../proto/agent-cluster.ts";

/** By NAMESPACE/NAME. An error is why that count is unknown. */
export type ToldCounts = ReadonlyMap<string, Count | Error>;

/**
 * Returns the counts of the member's budgets in these namespaces; an empty list means all namespaces. Undefined if its agent is too old for
 * this call. Rejects with the errors of watchBudgets(), and with AgentUnavailableError if the agent itself does not know its counts now.
 */
export async function readToldCounts(
	member: Pick<AgentCluster, "name" | "watchBudgets">,
	namespaces: readonly string[],
): Promise<ToldCounts | undefined> {
	const counts = new Map<string, Count | Error>();
	const over = new AbortController();
	const { promise: told, resolve, reject } = Promise.withResolvers<ToldCounts | undefined>();
	const keyOf = (name: BudgetName): string => formatBudgetName(name);
	const watching = member.watchBudgets(namespaces, {
		signal: over.signal,
		onUpdate: ({ changed, gone, complete, unknown }) => {
			if (unknown !== undefined) reject(new AgentUnavailableError(unknown, member.name));
			for (const { budget, state } of changed)
				counts.set(keyOf(budget.name), "unknown" in state ? new Error(state.unknown) : state);
			for (const name of gone) counts.delete(keyOf(name));
			if (complete) resolve(counts);
		},
	});
	watching.then(() => resolve(undefined), reject);
	try {
		return await told;
	} finally {
		over.abort();
	}
}

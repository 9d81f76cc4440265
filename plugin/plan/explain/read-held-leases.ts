// Reads who holds the Leases of the given budgets, and how many rounds wait for them. For display only. Agents that do not answer or are
// too old are left out.
import { type BudgetName, formatBudgetName } from "../../../disruption/budget/budget.ts";
import { isDomainError } from "../../../disruption/errors.ts";
import { isUnimplemented } from "../../../proto/status.ts";
import type { FleetOfView } from "./fleet-view.ts";

export interface HeldLease {
	/** NAMESPACE/NAME */
	readonly budget: string;
	readonly cluster: string;
	/** The holder's own claim. Left out if only rounds wait. */
	readonly holder?: string;
	/** The verified user of the holder. */
	readonly account?: string;
	readonly heldForMs?: number;
	/** The number of waiting rounds, as far as known. */
	readonly waiting: number;
}

export async function readHeldLeases(
	fleet: Pick<FleetOfView, "members" | "descriptions"> | undefined,
	budgets: readonly BudgetName[],
): Promise<readonly HeldLease[]> {
	// An empty list would ask for all budgets.
	if (!fleet || budgets.length === 0) return [];
	const lists = await Promise.all(
		fleet.members
			.filter(({ id }) => fleet.descriptions.has(id))
			.map(async (member) => {
				try {
					const leases = await member.listLeases(budgets);
					return leases.flatMap(({ budget, holding, waiting = 0 }): readonly HeldLease[] => {
						const held = holding && holding.expiresInMs > 0 ? holding : undefined;
						if (!budget || (!held && waiting === 0)) return [];
						const { holder, account, heldForMs } = held ?? {};
						return [
							{
								budget: formatBudgetName(budget),
								cluster: member.name,
								...(holder !== undefined && { holder }),
								...(account !== undefined && { account }),
								...(heldForMs !== undefined && { heldForMs }),
								waiting,
							},
						];
					});
				} catch (error) {
					if (isDomainError(error) || isUnimplemented(error)) return [];
					throw error;
				}
			}),
	);
	return lists.flat();
}

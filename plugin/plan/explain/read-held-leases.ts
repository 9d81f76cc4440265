// Who holds the Leases of these budgets at this moment, and how many wait for them: for people, nothing is decided by it. Whoever
// cannot say so, agents of earlier versions among them, says nothing.
import { type BudgetName, formatBudgetName } from "../../../disruption/budget/budget.ts";
import { isDomainError } from "../../../disruption/errors.ts";
import { isUnimplemented } from "../../../proto/status.ts";
import type { FleetOfView } from "./fleet-view.ts";

export interface HeldLease {
	/** NAMESPACE/NAME */
	readonly budget: string;
	readonly cluster: string;
	/** As it calls itself; none where some wait and nobody holds it. */
	readonly holder?: string;
	/** The verified user behind that. */
	readonly account?: string;
	readonly heldForMs?: number;
	/** As far as it is known. */
	readonly waiting: number;
}

export async function readHeldLeases(
	fleet: Pick<FleetOfView, "members" | "descriptions"> | undefined,
	budgets: readonly BudgetName[],
): Promise<readonly HeldLease[]> {
	// No scopes would be those of all budgets.
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

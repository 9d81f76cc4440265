// Why a pod waits for its grant: a verdict of a round or a look, another run's hold, or a temporary failure.
import { type BudgetName, formatBudgetName } from "../budget/budget.ts";
import { usersKey } from "../budget/budget-users.ts";
import type { PlaceInLine } from "../budget/cluster.ts";
import type { FailureReason, RefusalReason, Waiting, WaitReason } from "../budget/verdict.ts";

export interface Wait extends Partial<Omit<Waiting, "kind" | "reason" | "message">> {
	readonly reason: WaitReason | RefusalReason | FailureReason;
	readonly message: string;
}

export function leaseHeld({
	budget,
	cluster,
	holder,
}: PlaceInLine & { readonly cluster: string; readonly budget: BudgetName }): Wait {
	const message = `${holder} holds the lease of budget ${formatBudgetName(budget)} in cluster ${cluster}`;
	return { reason: "LeaseHeld", budget, message };
}

/** Whether `wait` tells `holder` nothing new (see usersKey). */
export function isSameWait(wait: Wait, before: Wait, holder: string): boolean {
	const users = ({ usedBy = [] }: Wait): string =>
		usersKey(usedBy.map((user) => ({ ...user, own: user.holder === holder })));
	return wait.message === before.message && users(wait) === users(before);
}

// Builds the Event that reports what a user did with a budget. The Event belongs to the budget's cluster and namespace.
import { type BudgetName, budgetApi } from "../../disruption/budget/budget.ts";
import { type PersonEvent, personEvent } from "./person-event.ts";

export interface BudgetEvent extends Omit<PersonEvent, "regarding"> {
	readonly name: BudgetName;
	/** "" if the budget no longer exists in that cluster. */
	readonly uid: string;
}

export function budgetEvent({ name: { namespace, name }, uid, ...event }: BudgetEvent): object {
	const { group, version } = budgetApi;
	const regarding = { apiVersion: `${group}/${version}`, kind: "XPodDisruptionBudget", namespace, name, uid };
	return personEvent({ ...event, regarding });
}

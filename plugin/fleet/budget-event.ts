// Builds the Event that says what a person did with a budget. It belongs beside the budget, in the same cluster and namespace.
import { type BudgetName, budgetApi } from "../../disruption/budget/budget.ts";
import { type PersonEvent, personEvent } from "./person-event.ts";

export interface BudgetEvent extends Omit<PersonEvent, "regarding"> {
	readonly name: BudgetName;
	/** The budget's uid in that cluster. "" if the budget no longer exists there. */
	readonly uid: string;
}

export function budgetEvent({ name: { namespace, name }, uid, ...event }: BudgetEvent): object {
	const { group, version } = budgetApi;
	const regarding = { apiVersion: `${group}/${version}`, kind: "XPodDisruptionBudget", namespace, name, uid };
	return personEvent({ ...event, regarding });
}

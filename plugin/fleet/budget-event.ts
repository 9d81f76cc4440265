// The Event that tells, beside the budget in each cluster, what a person did with it.
import { type BudgetName, budgetApi } from "../../disruption/budget/budget.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { type PersonEvent, personEvent, writePersonEvent } from "./person-event.ts";

export interface BudgetEvent extends Omit<PersonEvent, "regarding"> {
	readonly name: BudgetName;
	/** Of the budget there; "" where there is none any more. */
	readonly uid: string;
}

/** Why the Event could not be had; undefined where it could. `rehearse`: nothing is written. */
export async function writeBudgetEvent(
	context: Pick<KubeContext, "client">,
	{ namespace }: BudgetName,
	event: object,
	{ rehearse }: { readonly rehearse: boolean },
): Promise<string | undefined> {
	return writePersonEvent(context, namespace, event, { rehearse });
}

export function budgetEvent({ name: { namespace, name }, uid, ...event }: BudgetEvent): object {
	const { group, version } = budgetApi;
	const regarding = { apiVersion: `${group}/${version}`, kind: "XPodDisruptionBudget", namespace, name, uid };
	return personEvent({ ...event, regarding });
}

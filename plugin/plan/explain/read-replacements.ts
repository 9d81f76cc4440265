// Finds terminating and granted pods that get no replacement, because they have no controller or are static. The counts do not show this.
import type { V1Pod } from "@kubernetes/client-node";
import { controllerOf } from "../../../disruption/budget/pod.ts";
import type { BudgetRow, PodOfBudget } from "../../fleet/budget-table.ts";
import { ApiError, ConnectionError } from "../../kubernetes/api-error.ts";
import type { KubeContext } from "../../kubernetes/kube-context.ts";
import { isStaticPod } from "../../kubernetes/static-pod.ts";
import type { FleetOfView } from "./fleet-view.ts";

/** A pod that cannot be read stays unchanged. */
export async function withReplacements(
	row: BudgetRow,
	fleet: Pick<FleetOfView, "members" | "contextOf"> | undefined,
	contexts: readonly KubeContext[],
): Promise<BudgetRow> {
	const contextOf = (cluster: string): KubeContext | undefined => {
		const id = fleet?.members.find(({ name }) => name === cluster)?.id;
		const name = id === undefined ? undefined : fleet?.contextOf(id);
		return contexts.find((context) => context.name === name);
	};
	const usedBy = await Promise.all(row.usedBy.map(async (pod) => withReplacement(pod, contextOf(pod.cluster))));
	return { ...row, usedBy };
}

async function withReplacement(pod: PodOfBudget, context: KubeContext | undefined): Promise<PodOfBudget> {
	if (pod.why === "NotReady" || pod.replacement !== undefined || !context) return pod;
	const path = `/api/v1/namespaces/${encodeURIComponent(pod.namespace)}/pods/${encodeURIComponent(pod.name)}`;
	try {
		const found = await context.client.get<V1Pod>(path);
		return controllerOf(found) && !isStaticPod(found) ? pod : { ...pod, replacement: "none" };
	} catch (error) {
		if (error instanceof ApiError || error instanceof ConnectionError) return pod;
		throw error;
	}
}

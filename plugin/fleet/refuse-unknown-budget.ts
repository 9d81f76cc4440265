// Refuses a budget name that no cluster has, which is probably a typo.
import { ApiError, ConnectionError } from "../kubernetes/api-error.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { budgetNotFound, findBudget } from "./suspension-target.ts";

/**
 * Throws ApiError in kubectl's words if no context has the budget. Does not throw if a context cannot be asked, because the budget may
 * exist there.
 */
export async function refuseUnknownBudget(contexts: readonly KubeContext[], budget: string): Promise<void> {
	const found = await Promise.all(
		contexts.map(async (context) => {
			try {
				return (await findBudget(context, { namespace: context.namespace, name: budget })) !== undefined;
			} catch (error) {
				if (error instanceof ApiError || error instanceof ConnectionError) return true;
				throw error;
			}
		}),
	);
	if (!found.includes(true)) throw budgetNotFound(budget);
}

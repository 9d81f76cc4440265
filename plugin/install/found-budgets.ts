// Reads the budgets that exist before an installation: x-pdb's, those of the fleet, and those that users created in advance. The API
// servers are asked, because new members have no agents yet.
import type { V1Pod } from "@kubernetes/client-node";
import { budgetApi } from "../../disruption/budget/budget.ts";
import type { MemberBudget } from "../../disruption/budget/cluster.ts";
import { ApiError, isNotFound } from "../kubernetes/api-error.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { isFinished } from "../kubernetes/pod-status.ts";
import { installStep } from "./install-step.ts";

export interface FoundBudgets {
	/** The context's name. */
	readonly clusterName: string;
	readonly budgets: readonly MemberBudget[];
	/** The unfinished pods in the budgets' namespaces; undefined if the user may not list them. */
	readonly pods: readonly FoundPod[] | undefined;
}

export interface FoundPod {
	readonly namespace: string;
	readonly labels: Readonly<Record<string, string>>;
}

interface BudgetObject {
	readonly metadata: { readonly namespace: string; readonly name: string };
	readonly spec?: unknown;
}

export async function findBudgets(contexts: readonly KubeContext[]): Promise<readonly FoundBudgets[]> {
	const lists = await Promise.all(contexts.map(async (context) => ({ context, budgets: await listBudgets(context) })));
	const namespaces = new Set(lists.flatMap(({ budgets }) => budgets.map(({ name }) => name.namespace)));
	return Promise.all(
		lists.map(async ({ context, budgets }) => ({
			clusterName: context.name,
			budgets,
			// A budget counts the pods of all clusters, even if only one cluster has it.
			pods: await listPods(context, [...namespaces]),
		})),
	);
}

async function listBudgets(context: KubeContext): Promise<readonly MemberBudget[]> {
	const { group, version, resource } = budgetApi;
	const listed = context.client.list<BudgetObject>(`/apis/${group}/${version}/${resource}`).catch((error: unknown) => {
		if (isNotFound(error)) return [];
		throw error;
	});
	const objects = await installStep(context, "list the budgets", listed);
	return objects.map(({ metadata: { namespace, name }, spec }) => ({ name: { namespace, name }, spec }));
}

async function listPods(context: KubeContext, namespaces: readonly string[]): Promise<readonly FoundPod[] | undefined> {
	const lists = namespaces.map((namespace) => context.client.list<V1Pod>(`/api/v1/namespaces/${namespace}/pods`));
	try {
		const pods = (await Promise.all(lists)).flat().filter((pod) => !isFinished(pod));
		return pods.map(({ metadata }) => ({ namespace: metadata?.namespace ?? "", labels: metadata?.labels ?? {} }));
	} catch (error) {
		// The installation does not need the pods, which are only counted for the plan.
		if (error instanceof ApiError && error.code === 403) return undefined;
		return installStep(context, "list the pods of budgets", Promise.reject(error));
	}
}

// Reads one cluster's PodDisruptionBudgets, with the counts of its disruption controller. The eviction API checks them after ours.
import type { V1Pod, V1PodDisruptionBudget } from "@kubernetes/client-node";
import { type BudgetName, formatBudgetName } from "../../disruption/budget/budget.ts";
import { InvalidBudgetError } from "../../disruption/errors.ts";
import { fleetHash } from "../../disruption/budget/fleet.ts";
import { type LabelSelector, matchesSelector, parseLabelSelector } from "../../disruption/budget/selector.ts";
import { ApiError, errorText, isForbidden } from "../kubernetes/api-error.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { readyCondition } from "../kubernetes/pod-status.ts";
import type { PlanBudget } from "./drain-plan.ts";
import type { PlanNeverReason } from "./plan.ts";

export interface NativeBudget {
	readonly budget: PlanBudget;
	readonly name: BudgetName;
	readonly context: string;
	readonly selector: LabelSelector;
	readonly freesUnready: boolean;
	/** Why its cluster cannot count the budget. Until someone fixes this, the budget refuses the pods that it covers. */
	readonly problem: string | undefined;
	/** As the eviction API uses it. While recent evictions are uncounted, it is lower than the counts say. */
	readonly disruptionsAllowed: number;
	readonly desiredHealthy: number;
	/** Whether its cluster has counted it since its last change. */
	readonly isCounted: boolean;
}

export interface NativeBudgets {
	readonly budgets: readonly NativeBudget[];
	readonly problems: readonly string[];
}

const apiPath = "/apis/policy/v1";

/** If the user may not list the whole cluster, reads only `namespaces`. An API error becomes a problem. */
export async function readNativeBudgets(
	context: KubeContext,
	clusterId: string,
	namespaces: readonly string[] = [],
): Promise<NativeBudgets> {
	try {
		const found = await listBudgets(context, namespaces);
		return { budgets: found.flatMap((each) => nativeBudget(each, context.name, clusterId) ?? []), problems: [] };
	} catch (error) {
		if (!(error instanceof ApiError)) throw error;
		const problem = `${context.name}: its PodDisruptionBudgets cannot be read: ${errorText(error)}`;
		return { budgets: [], problems: [problem] };
	}
}

async function listBudgets(
	{ client }: KubeContext,
	namespaces: readonly string[],
): Promise<readonly V1PodDisruptionBudget[]> {
	try {
		return await client.list<V1PodDisruptionBudget>(`${apiPath}/poddisruptionbudgets`);
	} catch (error) {
		if (!isForbidden(error) || namespaces.length === 0 || namespaces.includes("")) throw error;
		const lists = namespaces.map((namespace) =>
			client.list<V1PodDisruptionBudget>(`${apiPath}/namespaces/${encodeURIComponent(namespace)}/poddisruptionbudgets`),
		);
		return (await Promise.all(lists)).flat();
	}
}

export type NativeCoverage =
	| { readonly kind: "none" }
	| { readonly kind: "covered"; readonly budget: NativeBudget }
	| { readonly kind: "never"; readonly never: { readonly reason: PlanNeverReason; readonly message: string } };

/** Follows the eviction API (pkg/registry/core/pod/storage/eviction.go): a pod may have only one PodDisruptionBudget. */
export function nativeCoverage(pod: V1Pod, budgets: readonly NativeBudget[]): NativeCoverage {
	const { metadata, status } = pod;
	const isRunning = status?.phase === "Running" || status?.phase === "Unknown";
	if (!isRunning || metadata?.deletionTimestamp !== undefined) return { kind: "none" };
	const covering = budgets.filter(
		({ name, selector }) => name.namespace === metadata?.namespace && matchesSelector(selector, metadata.labels ?? {}),
	);
	const [only] = covering;
	if (!only) return { kind: "none" };
	if (covering.length > 1) {
		const names = covering.map(({ name }) => name.name).join(", ");
		const message = `it has ${covering.length} PodDisruptionBudgets (${names}), and Kubernetes evicts no pod with more than one`;
		return { kind: "never", never: { reason: "MultipleBudgets", message } };
	}
	if (only.freesUnready && !readyCondition(pod)) return { kind: "none" };
	if (only.problem !== undefined) {
		return { kind: "never", never: { reason: "DisruptionBudget", message: only.problem } };
	}
	return { kind: "covered", budget: only };
}

export function nativeBudgetText({ budget }: NativeBudget): string {
	return formatBudgetName(budget.counted.budget.name);
}

/** Undefined if the budget selects nothing. */
function nativeBudget(
	{ metadata, spec, status }: V1PodDisruptionBudget,
	contextName: string,
	clusterId: string,
): NativeBudget | undefined {
	const selector = findSelector(spec?.selector);
	if (!selector) return undefined;
	const name = { namespace: metadata?.namespace ?? "", name: metadata?.name ?? "" };
	// One of our budgets may have the same name.
	const label = { ...name, name: `${name.name} (PodDisruptionBudget)` };
	const { currentHealthy = 0, desiredHealthy = 0, expectedPods = 0, disruptionsAllowed = 0 } = status ?? {};
	const failed = status?.conditions?.find(
		({ type, reason }) => type === "DisruptionAllowed" && reason === "SyncFailed",
	);
	return {
		name,
		context: contextName,
		selector,
		disruptionsAllowed,
		desiredHealthy,
		isCounted: (status?.observedGeneration ?? 0) >= (metadata?.generation ?? 0),
		freesUnready: spec?.unhealthyPodEvictionPolicy === "AlwaysAllow",
		problem:
			failed &&
			`PodDisruptionBudget ${name.namespace}/${name.name} cannot be counted by its cluster: ${failed.message}`,
		budget: {
			key: `${contextName} ${name.namespace}/${name.name}`,
			memberIds: [clusterId],
			isNative: true,
			bound:
				spec?.maxUnavailable === undefined
					? `minAvailable ${spec?.minAvailable ?? 1}`
					: `maxUnavailable ${spec.maxUnavailable}`,
			counted: {
				budget: { name: label, selector },
				counts: [
					{
						clusterId,
						clusterName: contextName,
						fleetHash: fleetHash([clusterId]),
						features: [],
						budgets: [{ name: label, spec: { selector: spec?.selector, minAvailable: desiredHealthy } }],
						expected: { kind: "known", pods: expectedPods },
						healthy: currentHealthy,
						candidates: [],
						unavailable: [],
					},
				],
			},
		},
	};
}

/**
 * Undefined if the selector is missing: that selects nothing, whereas {} selects everything. The API server accepts no unreadable selector.
 */
function findSelector(selector: unknown): LabelSelector | undefined {
	if (selector === undefined || selector === null) return undefined;
	try {
		return parseLabelSelector(selector, "spec.selector");
	} catch (error) {
		if (error instanceof InvalidBudgetError) return undefined;
		throw error;
	}
}

// Reads the PodDisruptionBudgets of one cluster as budgets that apply to that cluster alone, with the counts of its disruption controller.
// The eviction API checks these after ours.
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

/** One of Kubernetes' own budgets. */
export interface NativeBudget {
	readonly budget: PlanBudget;
	readonly name: BudgetName;
	readonly context: string;
	readonly selector: LabelSelector;
	/** Whether unready pods can be evicted whatever the budget says. */
	readonly freesUnready: boolean;
	/** Why the budget refuses everything until someone fixes it. */
	readonly problem: string | undefined;
	/** The number that the eviction API uses. It is lower than the counts say while recent evictions are not counted yet. */
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

/**
 * Reads the cluster's PodDisruptionBudgets. `namespaces`: the pods' namespaces. If the user may not list the whole cluster, only the
 * budgets of these are read. If the budgets cannot be read, that is a problem and not a failure.
 */
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

/** Finds the pod's PodDisruptionBudget as the eviction API does (pkg/registry/core/pod/storage/eviction.go): a pod may have only one. */
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

/** Returns the budget's name as users see it next to ours. */
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
 * Returns the selector. Undefined if it is missing: such a budget selects nothing, whereas {} selects everything. The API server accepts no
 * selector that cannot be read.
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

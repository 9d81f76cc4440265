// Computes what one budget allows, from the counts of all members.
//
// Guarantee: the budget allows nothing unless all members that have it agree on its selector, and all members support the features that it
// uses. The strictest bound holds. No bound holds if all members that have the budget suspend it. Healthy pods are counted as in
// healthy.ts. Bounds are judged as in Kubernetes' disruption controller (pkg/controller/disruption): percentages round up, and no expected
// pods allow nothing.
import {
	type Bound,
	type BudgetName,
	type BudgetSpec,
	desiredHealthy,
	formatBound,
	formatBudgetName,
	needsExpectedPods,
	parseBudgetSpec,
	type RoundBudget,
	supportedFeatures,
} from "./budget.ts";
import { exhaustedText, mislabelledText } from "./budget-text.ts";
import type { Count, MislabelledWorkload, UnavailablePod } from "./cluster.ts";
import { countedHealthy, withPodsDown } from "./healthy.ts";
import { InvalidBudgetError } from "../errors.ts";
import { formatSelector } from "./selector.ts";
import type { Refused, Verdict, Waiting } from "./verdict.ts";

export interface BudgetCounts {
	readonly budget: RoundBudget;
	readonly counts: readonly Count[];
}

/** A budget's state as it was counted, before any grant, for people. Numbers are pods. */
export interface BudgetState {
	readonly budget: BudgetName;
	readonly healthy: number;
	/** Pods that must stay healthy. Left out if the budget is suspended. */
	readonly need?: number;
	/** Left out if it is unknown, or if the budget is suspended. */
	readonly expected?: number;
	readonly mislabelled?: readonly (MislabelledWorkload & { readonly cluster: string })[];
	/** The most healthy pods that may be disrupted now. Left out if the budget is suspended. */
	readonly left?: number;
	readonly clusters: readonly { readonly name: string; readonly healthy: number; readonly expected?: number }[];
}

/** Returns undefined if the budget refuses, or waits for another round. */
export function budgetState(counted: BudgetCounts): BudgetState | undefined {
	const allowance = allowanceOf(counted);
	return allowance.kind === "allowance" ? stateOf(allowance) : undefined;
}

/** What one budget still allows within one decision. */
export interface Allowance {
	readonly kind: "allowance";
	readonly budget: BudgetName;
	/** How many pods must stay healthy. Undefined if the budget is suspended in all members that have it. */
	readonly desired: number | undefined;
	readonly expected: number | undefined;
	/** The first bound that needs the number of expected pods. Undefined if there is none, or if the budget is suspended. */
	readonly needsExpected: Bound | undefined;
	/** The counts, less the healthy pods that this decision has granted. */
	counts: readonly Count[];
	readonly usedBy: readonly (UnavailablePod & { readonly cluster: string })[];
	readonly mislabelled: readonly (MislabelledWorkload & { readonly cluster: string })[];
}

/** Call this before anything is granted, because grants lower `counts`. */
export function stateOf({ budget, desired, expected, counts, mislabelled }: Allowance): BudgetState {
	const { healthy } = totalsOf(counts);
	const isUsedUp = expected === 0 || (desired !== undefined && countedHealthy(counts) < desired);
	return {
		budget,
		healthy,
		...(desired !== undefined && { need: desired, left: isUsedUp ? 0 : healthy - desired }),
		...(expected !== undefined && { expected }),
		...(mislabelled.length > 0 && { mislabelled }),
		clusters: inOrder(counts).map(({ clusterName, healthy: here, expected: wanted }) => ({
			name: clusterName,
			healthy: here,
			...(wanted.kind === "known" && { expected: wanted.pods }),
		})),
	};
}

/** Sorts by cluster name, so that messages list clusters in the same order every time. */
function inOrder(counts: readonly Count[]): readonly Count[] {
	return counts.toSorted((a, b) => (a.clusterName < b.clusterName ? -1 : 1));
}

/**
 * Whether the budget allows one more disruption. `costsIn` is the pod's cluster, or undefined if the pod is not healthy. A pod that is not
 * healthy may go only while enough others are healthy, as with IfHealthyBudget (eviction.go).
 */
export function allowsDisruption({ desired, expected, counts }: Allowance, costsIn: string | undefined): boolean {
	if (desired === undefined) return true;
	if (expected !== undefined && expected <= 0) return false;
	return countedHealthy(costsIn === undefined ? counts : withPodsDown(counts, costsIn)) >= desired;
}

export function allowanceOf({ budget, counts }: BudgetCounts): Verdict<Allowance, never> {
	const name = formatBudgetName(budget.name);
	const read = readSpecs(name, counts);
	if (read.kind === "refused") return read;
	const { specs } = read;
	const [first] = specs;
	if (!first) return refused("InvalidBudget", `budget ${name} exists in no member any more`, true);
	const selector = formatSelector(first.spec.selector);
	for (const { cluster, spec } of specs) {
		if (formatSelector(spec.selector) !== selector) {
			return refused(
				"SelectorsDiffer",
				`budget ${name} selects "${formatSelector(spec.selector)}" in cluster ${cluster} and "${selector}" in cluster ` +
					`${first.cluster}: a budget has one selector, the same in all members`,
				true,
			);
		}
		for (const feature of spec.features) {
			const uses = `budget ${name} in cluster ${cluster} uses spec.${feature.toLowerCase()}`;
			const missing = counts.filter((count) => !count.features.includes(feature)).map((count) => count.clusterName);
			if (missing.length > 0) {
				const [agents, verb] = missing.length === 1 ? ["agent", "does"] : ["agents", "do"];
				return refused("FeatureMissing", `${uses}, which the ${agents} of ${missing.join(", ")} ${verb} not support`);
			}
			// Newer agents may report facts for this feature that this process does not read.
			if (!supportedFeatures.includes(feature)) {
				return refused("FeatureMissing", `${uses}, which this version of xpdb does not support: use a newer one`);
			}
		}
	}
	if (selector !== formatSelector(budget.selector)) {
		return waiting(
			"CoverageChanged",
			`budget ${name} selects "${selector}" now, and was counted with "${formatSelector(budget.selector)}"`,
		);
	}
	const { expected } = totalsOf(counts);
	const usedBy = inOrder(counts).flatMap((count) =>
		count.unavailable.map((pod) => ({ ...pod, cluster: count.clusterName })),
	);
	const mislabelled = inOrder(counts).flatMap((count) =>
		(count.mislabelled ?? []).map((workload) => ({ ...workload, cluster: count.clusterName })),
	);
	const base = { kind: "allowance", budget: budget.name, counts, usedBy, mislabelled } as const;
	if (specs.every(({ spec }) => spec.suspended)) {
		return { ...base, desired: undefined, expected: undefined, needsExpected: undefined };
	}
	const bounds = specs.map(({ spec }) => spec.bound);
	const needsExpected = bounds.find(needsExpectedPods);
	for (const { clusterName, expected: here } of counts) {
		if (!needsExpected || here.kind === "known") continue;
		return refused(
			here.cause ?? "ExpectedPodsUnknown",
			`budget ${name} with ${formatBound(needsExpected)} needs the number of expected pods, but in cluster ` +
				`${clusterName} ${here.reason}. A budget with minAvailable as a number does not need it`,
			here.settles ?? false,
		);
	}
	// If `expected` is unknown here, no bound depends on it.
	const desired = Math.max(...bounds.map((bound) => desiredHealthy(bound, expected ?? 0)));
	return { ...base, desired, expected, needsExpected };
}

/** Sums over all members. `expected` is undefined if any member does not know its number. */
export function totalsOf(counts: readonly Pick<Count, "healthy" | "expected">[]): {
	readonly healthy: number;
	readonly expected: number | undefined;
} {
	let healthy = 0;
	let expected: number | undefined = 0;
	for (const count of counts) {
		healthy += count.healthy;
		expected = expected === undefined || count.expected.kind === "unknown" ? undefined : expected + count.expected.pods;
	}
	return { healthy, expected };
}

/** Returns the specs of one budget from each member that has it. Refuses with InvalidBudget if one cannot be parsed. */
export function readSpecs(
	name: string,
	counts: readonly Pick<Count, "clusterName" | "budgets">[],
):
	| { readonly kind: "read"; readonly specs: readonly { readonly cluster: string; readonly spec: BudgetSpec }[] }
	| Refused {
	const specs: { readonly cluster: string; readonly spec: BudgetSpec }[] = [];
	for (const count of counts) {
		const found = count.budgets.find((member) => formatBudgetName(member.name) === name);
		if (!found) continue;
		try {
			specs.push({ cluster: count.clusterName, spec: parseBudgetSpec(found.spec) });
		} catch (error) {
			if (!(error instanceof InvalidBudgetError)) throw error;
			return refused("InvalidBudget", `budget ${name} in cluster ${count.clusterName}: ${error.message}`);
		}
	}
	return { kind: "read", specs };
}

export function exhaustedBudget({ budget, desired, counts, expected, usedBy, mislabelled }: Allowance): Waiting {
	const healthy = countedHealthy(counts);
	const numbers = { need: desired, healthy, expected };
	return {
		kind: "waiting",
		reason: "BudgetExhausted",
		message: exhaustedText(formatBudgetName(budget), numbers) + mislabelledText(mislabelled),
		budget,
		...(desired !== undefined && { need: desired }),
		...(expected !== undefined && { expected }),
		healthy,
		usedBy,
	};
}

export function waiting(reason: Waiting["reason"], message: string): Waiting {
	return { kind: "waiting", reason, message, usedBy: [] };
}

export function refused(reason: Refused["reason"], message: string, retry = false): Refused {
	return { kind: "refused", reason, message, retry };
}

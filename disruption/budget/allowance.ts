// What one budget allows, by the counts of all members.
//
// Guarantee: all members that have the budget agree on its selector and understand it, or it allows nothing; of several bounds the strictest
// holds. No cluster counts for more healthy pods than it expects (healthy.ts). Bounds are judged as Kubernetes' disruption
// controller judges them (pkg/controller/disruption): percentages round up, no expected pods allow nothing.
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
import type { Refused, Waiting } from "./verdict.ts";

/** The counts of one budget: one of every member. */
export interface BudgetCounts {
	readonly budget: RoundBudget;
	readonly counts: readonly Count[];
}

/** What one budget comes to, for people: before anything of this round was granted. Pods, of all clusters or of one. */
export interface BudgetState {
	readonly budget: BudgetName;
	readonly healthy: number;
	/** That must stay healthy; none where the budget is suspended. */
	readonly need?: number;
	/** None where the budget does not need it and an owner cannot say. */
	readonly expected?: number;
	/** Expected workloads, some of whose pods the budget does not select. */
	readonly mislabelled?: readonly (MislabelledWorkload & { readonly cluster: string })[];
	/** How many more may be disrupted now; none where the budget is suspended. */
	readonly left?: number;
	readonly clusters: readonly { readonly name: string; readonly healthy: number; readonly expected?: number }[];
}

/** Undefined where the budget refuses or waits for another round: the verdicts say why. */
export function budgetState(counted: BudgetCounts): BudgetState | undefined {
	const allowance = allowanceOf(counted);
	return allowance.kind === "allowance" ? stateOf(allowance) : undefined;
}

/** What one budget allows; the grants of this decision use it up. */
export interface Allowance {
	readonly kind: "allowance";
	readonly budget: BudgetName;
	/** Pods that must stay healthy; undefined where the budget is suspended in all members. */
	readonly desired: number | undefined;
	readonly expected: number | undefined;
	/** The bound that is judged by the number of expected pods, where there is one. */
	readonly needsExpected: Bound | undefined;
	/** Without what this decision has granted. */
	counts: readonly Count[];
	readonly usedBy: readonly (UnavailablePod & { readonly cluster: string })[];
	readonly mislabelled: readonly (MislabelledWorkload & { readonly cluster: string })[];
}

/** Before anything was granted. */
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

/** By the clusters' names, whoever answered first: what people read of a budget keeps its order. */
function inOrder(counts: readonly Count[]): readonly Count[] {
	return counts.toSorted((a, b) => (a.clusterName < b.clusterName ? -1 : 1));
}

/** A pod that is not healthy costs nothing, but only while the others are enough (IfHealthyBudget, eviction.go). */
export function allowsDisruption({ desired, expected, counts }: Allowance, costsIn: string | undefined): boolean {
	if (desired === undefined) return true;
	if (expected !== undefined && expected <= 0) return false;
	return countedHealthy(costsIn === undefined ? counts : withPodsDown(counts, costsIn)) >= desired;
}

export function allowanceOf({ budget, counts }: BudgetCounts): Allowance | Waiting | Refused {
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
				return refused("FeatureMissing", `${uses}, which the agent of ${missing.join(", ")} does not understand`);
			}
			// The agents may be newer than whoever decides here, and say of a candidate what would be lost on us.
			if (!supportedFeatures.includes(feature)) {
				return refused("FeatureMissing", `${uses}, which this version of xpdb does not understand: use a newer one`);
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
	// Where it is unknown here, every bound comes to the same for any number.
	const desired = Math.max(...bounds.map((bound) => desiredHealthy(bound, expected ?? 0)));
	return { ...base, desired, expected, needsExpected };
}

/** What the counts of all members come to together; nobody knows what is expected where one of them does not. */
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

/** The specs of one budget, as each member that has it says; InvalidBudget where one of them cannot be read. */
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

// The decision: turns counts and candidates into an answer for each candidate.
//
// Guarantee: a pod is granted only if all of the following hold:
// - Every member was counted once, and all declare the same fleet.
// - Every budget that any member has and that selects the pod was counted.
// - All members that have such a budget agree on its selector, and all members support the features that it uses.
// - The pod is not reserved, and waits for no pre-activity.
// - At least the desired number stays healthy after this grant and all earlier ones, unless every member that has the budget suspends it.
// - Under a bound that needs the number of expected pods, the pod has a controller that says how many pods there should be.
//
// allowance.ts and healthy.ts say how bounds and healthy pods count.
import {
	type Allowance,
	allowanceOf,
	allowsDisruption,
	type BudgetCounts,
	type BudgetState,
	exhaustedBudget,
	readSpecs,
	refused,
	stateOf,
	waiting,
} from "./allowance.ts";
import { type BudgetName, formatBound, formatBudgetName } from "./budget.ts";
import type { CandidateState } from "./cluster.ts";
import { withPodsDown } from "./healthy.ts";
import { coveringBudgets } from "./covering.ts";
import { fleetHash } from "./fleet.ts";
import type { Refused, RoundCandidate, Verdict } from "./verdict.ts";

export interface Grantable {
	readonly kind: "grantable";
	readonly state: Extract<CandidateState, { kind: "present" }>;
	/** All budgets that cover the pod. */
	readonly budgets: readonly BudgetName[];
}

export type Judgement = { readonly candidate: RoundCandidate } & Verdict<Grantable>;

/**
 * Judges the candidates in their order, each by what the earlier ones left. `memberIds` are all members of the fleet. Refuses every
 * candidate unless each budget has exactly one count from each member.
 */
export function decide(
	memberIds: readonly string[],
	budgets: readonly BudgetCounts[],
	candidates: readonly RoundCandidate[],
): readonly Judgement[] {
	const refusal = refuseFleet(memberIds, budgets);
	if (refusal) return candidates.map((candidate) => ({ candidate, ...refusal }));
	return judgeAll(candidates, budgets, allowancesOf(budgets));
}

/** Like decide(). Also returns the states of the budgets before anything is granted, without those that refuse or wait. */
export function decideWithStates(
	memberIds: readonly string[],
	budgets: readonly BudgetCounts[],
	candidates: readonly RoundCandidate[],
): { readonly judgements: readonly Judgement[]; readonly states: readonly BudgetState[] } {
	const refusal = refuseFleet(memberIds, budgets);
	if (refusal) return { judgements: candidates.map((candidate) => ({ candidate, ...refusal })), states: [] };
	const allowances = allowancesOf(budgets);
	// Must come before judgeAll(), because each grant lowers what its budgets allow.
	const states = budgets.flatMap((counted) => {
		const allowance = allowances.get(formatBudgetName(counted.budget.name));
		return allowance?.kind === "allowance" ? [stateOf(allowance)] : [];
	});
	return { judgements: judgeAll(candidates, budgets, allowances), states };
}

type Allowances = ReadonlyMap<string, Verdict<Allowance, never>>;

function allowancesOf(budgets: readonly BudgetCounts[]): Allowances {
	return new Map(budgets.map((counted) => [formatBudgetName(counted.budget.name), allowanceOf(counted)]));
}

function judgeAll(
	candidates: readonly RoundCandidate[],
	budgets: readonly BudgetCounts[],
	allowances: Allowances,
): readonly Judgement[] {
	return candidates.map((candidate) => ({ candidate, ...judge(candidate, budgets, allowances) }));
}

/** Judges one budget without candidates: returns its state, or why it would grant nothing. */
export function judgeBudget(
	memberIds: readonly string[],
	counted: BudgetCounts,
): Verdict<{ readonly kind: "state"; readonly state: BudgetState }, never> {
	const allowance = refuseFleet(memberIds, [counted]) ?? allowanceOf(counted);
	return allowance.kind === "allowance" ? { kind: "state", state: stateOf(allowance) } : allowance;
}

function judge(
	candidate: RoundCandidate,
	budgets: readonly BudgetCounts[],
	allowances: Allowances,
): Verdict<Grantable> {
	const states = budgets.flatMap(({ counts }) =>
		counts
			.filter((count) => count.clusterId === candidate.clusterId)
			.flatMap((count) => count.candidates.filter(({ pod }) => pod.uid === candidate.pod.uid)),
	);
	const [state] = states;
	if (!state || states.length !== budgets.length || states.some(({ kind }) => kind === "unseen")) {
		return waiting("PodUnseen", `pod ${podName(candidate)} has not been seen by its cluster's agent yet`);
	}
	if (states.every(({ kind }) => kind === "gone")) return { kind: "free", why: "Gone" };
	const ended = states.find((each) => each.kind === "free");
	if (ended) return { kind: "free", why: ended.why };
	const present = states.filter((each) => each.kind === "present");
	if (present.length !== states.length || state.kind !== "present") {
		return waiting("PodUnseen", `pod ${podName(candidate)} is changing at this moment`);
	}
	const reservedBy = present.find((each) => each.reservedBy)?.reservedBy;
	if (reservedBy) {
		return waiting("PodReserved", `pod ${podName(candidate)} is being evicted by ${reservedBy.holder}`);
	}
	const members = budgets.flatMap(({ counts }) => counts.flatMap((count) => count.budgets));
	const covering = coveringBudgets(members, { namespace: candidate.pod.namespace, labels: state.labels });
	const uncounted = covering.map(({ name }) => formatBudgetName(name)).filter((name) => !allowances.has(name));
	for (const name of uncounted) {
		// An unreadable budget would not be counted in the next round either, so refuse now.
		const specs = readSpecs(
			name,
			budgets.flatMap(({ counts }) => counts),
		);
		if (specs.kind === "refused") return specs;
	}
	if (uncounted.length > 0) {
		return waiting("CoverageChanged", `pod ${podName(candidate)} is also covered by budget ${uncounted.join(", ")}`);
	}
	if (covering.length === 0) {
		return waiting("CoverageChanged", `pod ${podName(candidate)} is not covered by these budgets any more`);
	}
	// Each budget's count lists the pod's pre-activities, so they may repeat.
	const preActivities = [...new Set(present.flatMap((each) => each.preActivities))];
	if (preActivities.length > 0) {
		const message = `pod ${podName(candidate)} waits for its pre-activity ${preActivities.join(", ")}`;
		return { ...waiting("PreActivityPending", message), preActivities };
	}
	const bounds: Allowance[] = [];
	for (const { name } of covering) {
		const allowance = allowances.get(formatBudgetName(name));
		if (allowance && allowance.kind !== "allowance") return allowance;
		if (allowance) bounds.push(allowance);
	}
	const unexpected = present.find((each) => each.unexpected !== undefined)?.unexpected;
	const needing = bounds.find(({ needsExpected }) => needsExpected !== undefined);
	if (unexpected !== undefined && needing) return refuseUnexpected(candidate, needing, unexpected);
	const healthy = present.some((each) => each.healthy);
	const costsIn = healthy ? candidate.clusterId : undefined;
	const exhausted = bounds.find((allowance) => !allowsDisruption(allowance, costsIn));
	if (exhausted) return exhaustedBudget(exhausted);
	if (healthy) for (const allowance of bounds) allowance.counts = withPodsDown(allowance.counts, candidate.clusterId);
	return { kind: "grantable", state, budgets: covering.map(({ name }) => name) };
}

/**
 * Refuses a pod without a controller that says how many pods there should be. Each such pod counts as one expected pod, so without this
 * rule all of them could be evicted, one by one.
 */
function refuseUnexpected(candidate: RoundCandidate, { budget, needsExpected }: Allowance, why: string): Refused {
	const bound = needsExpected ? ` with ${formatBound(needsExpected)}` : "";
	return refused(
		"ExpectedPodsUnknown",
		`budget ${formatBudgetName(budget)}${bound} needs the number of expected pods, which is unknown for pod ` +
			`${podName(candidate)}: ${why}. It can be evicted once a controller adopts it; a budget with minAvailable as a number does not need the number`,
		true,
	);
}

function refuseFleet(memberIds: readonly string[], budgets: readonly BudgetCounts[]): Refused | undefined {
	const hash = fleetHash(memberIds);
	for (const { budget, counts } of budgets) {
		const counted = counts.map((count) => count.clusterId);
		const wrong = memberIds.filter((id) => counted.filter((other) => other === id).length !== 1);
		// If this is false, each member was counted exactly once, and no other cluster was counted.
		if (wrong.length > 0 || counted.length !== memberIds.length) {
			return refused(
				"FleetsDiffer",
				`budget ${formatBudgetName(budget.name)} was not counted once in every member of the fleet` +
					(wrong.length > 0 ? `: cluster ${wrong.join(", ")}` : ""),
			);
		}
		const others = counts.filter((count) => count.fleetHash !== hash).map((count) => count.clusterName);
		if (others.length > 0) {
			return refused(
				"FleetsDiffer",
				`cluster ${others.join(", ")} declares another fleet than the round runs over: ConfigMap xpdb-fleet must list the same members in every cluster`,
				true,
			);
		}
	}
	return undefined;
}

function podName({ pod }: RoundCandidate): string {
	return `${pod.namespace}/${pod.name}`;
}

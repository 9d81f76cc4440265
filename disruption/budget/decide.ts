// The decision: counts and candidates in, an answer for each candidate out.
//
// Guarantee: a pod is granted only if every member answered for the same fleet, every budget that any member has and that
// selects the pod was counted, all members agree on its selector and understand it, and at least the desired number stays
// healthy after this grant and all earlier ones. No cluster counts for more healthy pods than it expects
// (healthy.ts). Bounds are judged as Kubernetes' disruption controller judges them (pkg/controller/disruption):
// percentages round up, no expected pods allow nothing. A pod that no controller speaks for is not granted under a bound
// that needs the number of expected pods; other pods are.
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
import type { Free, Refused, RoundCandidate, Waiting } from "./verdict.ts";

/** A candidate that may be granted, as its own cluster has it. */
export interface Grantable {
	readonly kind: "grantable";
	readonly state: Extract<CandidateState, { kind: "present" }>;
	/** The budgets that cover the pod, all of them counted. */
	readonly budgets: readonly BudgetName[];
}

export type Judgement = { readonly candidate: RoundCandidate } & (Grantable | Free | Waiting | Refused);

/**
 * Judges the candidates in their order, each against what the ones before it left. `memberIds` are the ids of all
 * members of the fleet; there must be one count of each for every budget.
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

/** The same, and what each budget comes to before anything is granted; of those that refuse or wait there is no state. */
export function decideWithStates(
	memberIds: readonly string[],
	budgets: readonly BudgetCounts[],
	candidates: readonly RoundCandidate[],
): { readonly judgements: readonly Judgement[]; readonly states: readonly BudgetState[] } {
	const refusal = refuseFleet(memberIds, budgets);
	if (refusal) return { judgements: candidates.map((candidate) => ({ candidate, ...refusal })), states: [] };
	const allowances = allowancesOf(budgets);
	// First: each grant uses up what its budgets have.
	const states = budgets.flatMap((counted) => {
		const allowance = allowances.get(formatBudgetName(counted.budget.name));
		return allowance?.kind === "allowance" ? [stateOf(allowance)] : [];
	});
	return { judgements: judgeAll(candidates, budgets, allowances), states };
}

type Allowances = ReadonlyMap<string, Allowance | Waiting | Refused>;

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

/** What one budget comes to where nobody asks for a pod: its state, or why it would grant nothing. */
export function judgeBudget(
	memberIds: readonly string[],
	counted: BudgetCounts,
): { readonly kind: "state"; readonly state: BudgetState } | Waiting | Refused {
	const allowance = refuseFleet(memberIds, [counted]) ?? allowanceOf(counted);
	return allowance.kind === "allowance" ? { kind: "state", state: stateOf(allowance) } : allowance;
}

function judge(
	candidate: RoundCandidate,
	budgets: readonly BudgetCounts[],
	allowances: Allowances,
): Grantable | Free | Waiting | Refused {
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
		// One that cannot be read will not be counted in the next round either: it has to be named now.
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
	// Each budget's count has them.
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

/** Of such pods each is one expected pod: granted, they would be walked down to nothing, bound by bound. */
function refuseUnexpected(candidate: RoundCandidate, { budget, needsExpected }: Allowance, why: string): Refused {
	const bound = needsExpected ? ` with ${formatBound(needsExpected)}` : "";
	return refused(
		"ExpectedPodsUnknown",
		`budget ${formatBudgetName(budget)}${bound} needs the number of expected pods, which nobody says for pod ` +
			`${podName(candidate)}: ${why}. It goes once a controller adopts it; a budget with minAvailable as a number does not need it`,
		true,
	);
}

function refuseFleet(memberIds: readonly string[], budgets: readonly BudgetCounts[]): Refused | undefined {
	const hash = fleetHash(memberIds);
	for (const { budget, counts } of budgets) {
		const counted = counts.map((count) => count.clusterId);
		const wrong = memberIds.filter((id) => counted.filter((other) => other === id).length !== 1);
		// As many counts as members and each member's just one: nobody else's either, and no member twice.
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

// The decision: counts and candidates in, an answer for each candidate out.
//
// Guarantee: a pod is granted only if every member answered for the same fleet, every budget that any member has and that
// selects the pod was counted, all members agree on its selector and understand it, and at least the desired number stays
// healthy after this grant and all earlier ones. No cluster counts for more healthy pods than it expects
// (counted-healthy.ts). Bounds are judged as Kubernetes' disruption controller judges them (pkg/controller/disruption):
// percentages round up, no expected pods allow nothing. A pod that no controller speaks for is not granted under a bound
// that needs the number of expected pods; other pods are.
import {
	type Bound,
	type BudgetName,
	type BudgetSpec,
	desiredHealthy,
	formatBound,
	formatBudgetName,
	type LabelSelector,
	needsExpectedPods,
	parseBudgetSpec,
	supportedFeatures,
} from "./budget.ts";
import { exhaustedText, mislabelledText } from "./budget-text.ts";
import type { CandidateState, Count, MislabelledWorkload, UnavailablePod } from "./cluster.ts";
import { countedHealthy, type PodsTaken, withTaken } from "./counted-healthy.ts";
import { coveringBudgets } from "./coverage.ts";
import { InvalidBudgetError } from "./errors.ts";
import { fleetHash } from "./fleet.ts";
import { formatSelector } from "./selector.ts";
import type { Free, Refused, RoundCandidate, Waiting } from "./verdict.ts";

/** A budget and the selector that the round counts it with. */
export interface RoundBudget {
	readonly name: BudgetName;
	readonly selector: LabelSelector;
}

/** The counts of one budget: one of every member. */
export interface BudgetCounts {
	readonly budget: RoundBudget;
	readonly counts: readonly Count[];
}

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

/** What one budget comes to where nobody asks for a pod: its state, or why it would grant nothing. */
export function judgeBudget(
	memberIds: readonly string[],
	counted: BudgetCounts,
): { readonly kind: "state"; readonly state: BudgetState } | Waiting | Refused {
	const allowance = refuseFleet(memberIds, [counted]) ?? allowanceOf(counted);
	return allowance.kind === "allowance" ? { kind: "state", state: stateOf(allowance) } : allowance;
}

function stateOf({ budget, desired, expected, counts, mislabelled }: Allowance): BudgetState {
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

/** What one budget allows; the grants of this decision use it up. */
interface Allowance {
	readonly kind: "allowance";
	readonly budget: BudgetName;
	/** Pods that must stay healthy; undefined where the budget is suspended in all members. */
	readonly desired: number | undefined;
	readonly expected: number | undefined;
	/** The bound that is judged by the number of expected pods, where there is one. */
	readonly needsExpected: Bound | undefined;
	readonly counts: readonly Count[];
	/** Granted by this decision. */
	taken: PodsTaken;
	readonly usedBy: readonly (UnavailablePod & { readonly cluster: string })[];
	readonly mislabelled: readonly (MislabelledWorkload & { readonly cluster: string })[];
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
	if (healthy) for (const allowance of bounds) allowance.taken = withTaken(allowance.taken, candidate.clusterId);
	return { kind: "grantable", state, budgets: covering.map(({ name }) => name) };
}

/** A pod that is not healthy costs nothing, but only while the others are enough (IfHealthyBudget, eviction.go). */
function allowsDisruption({ desired, expected, counts, taken }: Allowance, costsIn: string | undefined): boolean {
	if (desired === undefined) return true;
	if (expected !== undefined && expected <= 0) return false;
	return countedHealthy(counts, costsIn === undefined ? taken : withTaken(taken, costsIn)) >= desired;
}

function allowanceOf({ budget, counts }: BudgetCounts): Allowance | Waiting | Refused {
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
	const taken: PodsTaken = new Map<string, number>();
	const base = { kind: "allowance", budget: budget.name, counts, taken, usedBy, mislabelled } as const;
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

function exhaustedBudget({ budget, desired, counts, taken, expected, usedBy, mislabelled }: Allowance): Waiting {
	const healthy = countedHealthy(counts, taken);
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

function waiting(reason: Waiting["reason"], message: string): Waiting {
	return { kind: "waiting", reason, message, usedBy: [] };
}

function refused(reason: Refused["reason"], message: string, retry = false): Refused {
	return { kind: "refused", reason, message, retry };
}

function podName({ pod }: RoundCandidate): string {
	return `${pod.namespace}/${pod.name}`;
}

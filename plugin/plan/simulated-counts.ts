// Keeps the budgets' counts during a simulated drain, and judges pods by decide().
import { formatBudgetName } from "../../disruption/budget/budget.ts";
import { neverMetText } from "../../disruption/budget/budget-text.ts";
import { withPodsDown } from "../../disruption/budget/healthy.ts";
import type { CandidateState, Count } from "../../disruption/budget/cluster.ts";
import { decide, type Judgement } from "../../disruption/budget/decide.ts";
import type { Waiting } from "../../disruption/budget/verdict.ts";
import type { NeverPlanned, PlanBudget, PlanPod } from "./drain-plan.ts";

/** `key`: the budget that is used up, if any. */
export interface WaitingJudgement {
	readonly kind: "waiting";
	readonly waiting: Waiting;
	readonly key: string | undefined;
}

export type PlanJudgement =
	| { readonly kind: "may go"; readonly why: "Granted" | "Gone" | "Terminating" | "Finished" | "Uncovered" }
	| WaitingJudgement
	| { readonly kind: "never"; readonly never: NeverPlanned };

interface Stranded {
	readonly pod: PlanPod;
	readonly costs: boolean;
}

interface SimulatedBudget {
	readonly budget: PlanBudget;
	counts: readonly Count[];
	stranded: readonly Stranded[];
}

export class SimulatedCounts {
	readonly #budgets: ReadonlyMap<string, SimulatedBudget>;
	readonly #states = new Map<PlanPod, ReadonlyMap<string, CandidateState>>();

	readonly #classes = new Map<PlanPod, string>();
	/** Pods whose waits for things outside this drain, except for used-up budgets, are assumed to be over. */
	readonly #recovered = new Set<PlanPod>();

	constructor(budgets: readonly PlanBudget[]) {
		this.#budgets = new Map(
			budgets.map((budget) => [budget.key, { budget, counts: budget.counted.counts, stranded: [] }]),
		);
	}

	/** Pods of one class need the same from the same budgets: while one waits, all wait. */
	classOf(pod: PlanPod): string {
		const known = this.#classes.get(pod);
		if (known !== undefined) return known;
		const states = this.#statesOf(pod);
		const isPlain = [...states.values()].every(
			(state) => state.kind === "present" && !state.reservedBy && state.preActivities.length === 0,
		);
		const found = JSON.stringify([...states.keys(), this.#isHealthy(pod), isPlain ? "" : pod.candidate.pod.uid]);
		this.#classes.set(pod, found);
		return found;
	}

	/** Judges the fleet's budgets together, and each cluster's PodDisruptionBudgets, also in a fleet of one cluster. */
	judge(pod: PlanPod): PlanJudgement {
		const scopes = Map.groupBy(this.#budgetsOf(pod), ({ budget }) => scopeOf(budget));
		let why: Extract<PlanJudgement, { kind: "may go" }>["why"] = "Uncovered";
		for (const budgets of scopes.values()) {
			const judgement = this.#decide(pod, budgets);
			switch (judgement.kind) {
				case "grantable":
					why = "Granted";
					break;
				case "free":
					return { kind: "may go", why: judgement.why };
				case "refused":
					return { kind: "never", never: { reason: judgement.reason, message: judgement.message } };
				case "waiting": {
					const { budget } = judgement;
					// The counts still contain this reason, but it is assumed to be over.
					if (judgement.reason !== "BudgetExhausted" && this.#recovered.has(pod)) break;
					const exhausted = budgets.find(
						({ budget: { counted } }) => budget && formatBudgetName(counted.budget.name) === formatBudgetName(budget),
					);
					return { kind: "waiting", waiting: judgement, key: exhausted?.budget.key };
				}
			}
		}
		return { kind: "may go", why };
	}

	/** Counts the pod as down. Returns whether that uses up part of its budgets. */
	take(pod: PlanPod): boolean {
		const costs = this.#isHealthy(pod);
		if (costs) this.#down(pod, 1);
		return costs;
	}

	/** Records that the replacement is healthy, or that there is none and the pod is no longer expected. */
	back(pod: PlanPod, costs: boolean): void {
		if (pod.replaced) {
			if (costs) this.#down(pod, -1);
			return;
		}
		this.#change(pod, (count) =>
			count.expected.kind === "known"
				? { ...count, expected: { kind: "known", pods: Math.max(0, count.expected.pods - 1) } }
				: count,
		);
	}

	/** Records that no healthy replacement comes, or only when a node accepts pods again. */
	strand(pod: PlanPod, costs: boolean): void {
		for (const simulated of this.#budgetsOf(pod)) simulated.stranded = [...simulated.stranded, { pod, costs }];
	}

	/**
	 * Assumes that all blockers outside this drain are gone. Returns false if nothing changes, because all pods of the budget that can be
	 * healthy are healthy.
	 */
	recover(pod: PlanPod, { waiting, key }: WaitingJudgement): boolean {
		if (waiting.reason !== "BudgetExhausted") {
			this.#classes.delete(pod);
			this.#recovered.add(pod);
			this.#states.set(pod, new Map([...this.#statesOf(pod)].map(([budget, state]) => [budget, settled(state)])));
			return true;
		}
		const simulated = key === undefined ? undefined : this.#budgets.get(key);
		if (!simulated) return false;
		const recovered = simulated.counts.map((count) => {
			const here = simulated.stranded.filter((each) => each.pod.candidate.clusterId === count.clusterId);
			return { ...count, healthy: healthyAtBest(count, here), unavailable: [] };
		});
		const better = recovered.some((count, index) => count.healthy > (simulated.counts[index]?.healthy ?? 0));
		simulated.counts = recovered;
		simulated.stranded = simulated.stranded.filter(isForEver);
		return better;
	}

	/** Explains why even all pods that could be healthy are not enough. */
	neverMet({ waiting, key }: WaitingJudgement): NeverPlanned {
		const { need, expected, healthy, message, budget } = waiting;
		const simulated = key === undefined ? undefined : this.#budgets.get(key);
		const stranded = simulated?.stranded.filter(isForEver) ?? [];
		if (stranded.length > 0) {
			return {
				reason: "BudgetStaysUsedUp",
				message: `${message}, and stays used up: ${strandedText(stranded)} would find no node`,
			};
		}
		const bound = simulated?.budget.bound;
		return {
			reason: "BudgetNeverMet",
			message:
				bound === undefined || need === undefined || !budget || expected === 0
					? message
					: neverMetText(formatBudgetName(budget), bound, { need, healthy, expected }),
		};
	}

	#decide(pod: PlanPod, budgets: readonly SimulatedBudget[]): Judgement {
		const states = this.#statesOf(pod);
		const [judgement] = decide(
			budgets[0]?.budget.memberIds ?? [],
			budgets.map(({ budget, counts }) => {
				const state = states.get(budget.key);
				const candidates = state ? [state] : [];
				return {
					budget: budget.counted.budget,
					counts: counts.map((count) => ({
						...count,
						candidates: count.clusterId === pod.candidate.clusterId ? candidates : [],
					})),
				};
			}),
			[pod.candidate],
		);
		if (!judgement) throw new Error("a decision without an answer");
		return judgement;
	}

	#isHealthy(pod: PlanPod): boolean {
		return [...this.#statesOf(pod).values()].some((state) => state.kind === "present" && state.healthy);
	}

	#statesOf(pod: PlanPod): ReadonlyMap<string, CandidateState> {
		return this.#states.get(pod) ?? pod.states;
	}

	#budgetsOf(pod: PlanPod): readonly SimulatedBudget[] {
		return [...pod.states.keys()].map((key) => {
			const simulated = this.#budgets.get(key);
			if (!simulated) throw new Error(`a pod under budget ${key}, which the plan does not have`);
			return simulated;
		});
	}

	#down(pod: PlanPod, pods: number): void {
		for (const simulated of this.#budgetsOf(pod)) {
			simulated.counts = withPodsDown(simulated.counts, pod.candidate.clusterId, pods);
		}
	}

	#change(pod: PlanPod, change: (count: Count) => Count): void {
		for (const simulated of this.#budgetsOf(pod)) {
			simulated.counts = simulated.counts.map((count) =>
				count.clusterId === pod.candidate.clusterId ? change(count) : count,
			);
		}
	}
}

/** Removes what blocks the pod. An unseen pod was not counted as healthy, so its eviction costs nothing. */
function settled(state: CandidateState): CandidateState {
	if (state.kind !== "present") return { kind: "free", pod: state.pod, why: "Terminating" };
	const { reservedBy: _, ...rest } = state;
	return { ...rest, preActivities: [] };
}

/** `stranded`: the stranded pods of the count's cluster. */
function healthyAtBest({ healthy, expected, unavailable }: Count, stranded: readonly Stranded[]): number {
	const lost = stranded.filter(isForEver);
	if (expected.kind === "known") return Math.max(healthy, expected.pods - lost.length);
	const back = stranded.filter((each) => !isForEver(each) && each.costs).length;
	// Stranded pods that were already down do not come back either.
	return healthy + back + Math.max(0, unavailable.length - lost.filter(({ costs }) => !costs).length);
}

function isForEver({ pod }: Stranded): boolean {
	return pod.strands === "for ever";
}

function strandedText(stranded: readonly Stranded[]): string {
	const [first, ...others] = stranded.map(({ pod }) => `${pod.candidate.pod.namespace}/${pod.candidate.pod.name}`);
	const more = others.length > 1 ? ` and ${others.length} more` : others.map((name) => ` and ${name}`).join("");
	return `the ${stranded.length === 1 ? "replacement" : "replacements"} of ${first}${more}`;
}

function scopeOf({ isNative, memberIds }: PlanBudget): string {
	return `${isNative ? "native " : ""}${memberIds.join(" ")}`;
}

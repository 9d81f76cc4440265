// What a round would say now: counts without an acquisition, cheap and without a write. A hint, no more.
import type { Member } from "../budget/cluster.ts";
import { decideWithStates, type Judgement } from "../budget/decide.ts";
import type { BudgetCounts, BudgetState } from "../budget/allowance.ts";
import type { RoundBudget } from "../budget/budget.ts";
import type { RoundCandidate } from "../budget/verdict.ts";

export type CountedMember = Pick<Member, "id" | "look">;

export interface Availability {
	readonly judgements: readonly Judgement[];
	/** Of those that were counted, in one fleet, and refuse nothing. */
	readonly states: readonly BudgetState[];
}

/** Rejects with AgentUnavailableError where a member gives no answer. */
export async function checkAvailability(
	members: readonly CountedMember[],
	budgets: readonly RoundBudget[],
	candidates: readonly RoundCandidate[],
): Promise<Availability> {
	// A pod that others cover as well by now is one for a round, which counts them all.
	const counted = await lookAtBudgets(members, budgets, candidates, { thisBudgetAlone: true });
	const ids = members.map(({ id }) => id);
	return decideWithStates(ids, counted, candidates);
}

/** Whether a round could grant something, or has something else to say than that the pod waits. */
export function isWorthARound(judgement: Judgement): boolean {
	return judgement.kind !== "waiting" || judgement.reason === "CoverageChanged";
}

/** What a round would count, without the Leases that make it one. */
export async function lookAtBudgets(
	members: readonly CountedMember[],
	budgets: readonly RoundBudget[],
	candidates: readonly RoundCandidate[],
	options: { readonly thisBudgetAlone?: boolean } = {},
): Promise<readonly BudgetCounts[]> {
	return Promise.all(
		budgets.map(async (budget) => ({
			budget,
			counts: await Promise.all(
				members.map((member) =>
					member.look({
						budget: budget.name,
						selector: budget.selector,
						candidates: candidates.filter(({ clusterId }) => clusterId === member.id).map(({ pod }) => pod),
						...options,
					}),
				),
			),
		})),
	);
}

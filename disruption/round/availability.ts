// Predicts what a round would decide now. It counts without an acquisition: that is cheap and writes nothing, but the result is only a
// hint.
import type { Member } from "../budget/cluster.ts";
import { decideWithStates, type Judgement } from "../budget/decide.ts";
import type { BudgetCounts, BudgetState } from "../budget/allowance.ts";
import type { RoundBudget } from "../budget/budget.ts";
import type { RoundCandidate } from "../budget/verdict.ts";

export type CountedMember = Pick<Member, "id" | "look">;

export interface Availability {
	readonly judgements: readonly Judgement[];
	/** One for each budget that neither refuses nor waits. Empty if the fleets differ. */
	readonly states: readonly BudgetState[];
}

/** Rejects with AgentUnavailableError if a member gives no answer. */
export async function checkAvailability(
	members: readonly CountedMember[],
	budgets: readonly RoundBudget[],
	candidates: readonly RoundCandidate[],
): Promise<Availability> {
	// Each look reads only its own budget. The round reads all budgets, and so notices if another one covers the pod by now.
	const counted = await lookAtBudgets(members, budgets, candidates, { thisBudgetAlone: true });
	const ids = members.map(({ id }) => id);
	return decideWithStates(ids, counted, candidates);
}

/**
 * Whether a round would probably give this candidate an answer other than `waiting`. CoverageChanged counts too, because the caller then
 * looks for the pod's budgets again.
 */
export function isWorthARound(judgement: Judgement): boolean {
	return judgement.kind !== "waiting" || judgement.reason === "CoverageChanged";
}

/** Returns a look of each member at each budget. A round may count differently, because a look holds no Lease. */
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

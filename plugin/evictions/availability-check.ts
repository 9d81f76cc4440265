// Whether a round could grant something now: counts without an acquisition, cheap and without a write. A hint, no more.
import { decide, type RoundBudget } from "../../disruption/decide.ts";
import type { RoundCandidate } from "../../disruption/verdict.ts";
import type { AgentCluster } from "../../proto/agent-cluster.ts";

/** Rejects with AgentUnavailableError where a member gives no answer. */
export async function checkAvailability(
	members: readonly Pick<AgentCluster, "id" | "look">[],
	budgets: readonly RoundBudget[],
	candidates: readonly RoundCandidate[],
): Promise<boolean> {
	const counts = await Promise.all(
		budgets.map(async (budget) => ({
			budget,
			counts: await Promise.all(
				members.map((member) =>
					member.look({
						budget: budget.name,
						selector: budget.selector,
						candidates: candidates.filter(({ clusterId }) => clusterId === member.id).map(({ pod }) => pod),
					}),
				),
			),
		})),
	);
	const judgements = decide(
		members.map(({ id }) => id),
		counts,
		candidates,
	);
	return judgements.some((judgement) => judgement.kind !== "waiting" || judgement.reason === "CoverageChanged");
}

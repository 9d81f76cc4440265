// Reads one budget's counts from all members, as a plan does, without acquiring a Lease. A missing, late or unreadable answer becomes a
// finding, never a number.
import { formatBudgetName, type RoundBudget } from "../../../disruption/budget/budget.ts";
import type { Count, PodReference } from "../../../disruption/budget/cluster.ts";
import {
	AgentUnavailableError,
	FleetsDifferError,
	GarbledLeaseError,
	isAgentRefusal,
} from "../../../disruption/errors.ts";
import type { AgentCluster } from "../../../proto/agent-cluster.ts";
import { boundText } from "../../fleet/budget-members.ts";
import { type BudgetRow, budgetRow, type CountOfMember } from "../../fleet/budget-table.ts";
import type { PlanBudget } from "../drain-plan.ts";
import { lookInParts } from "../fleet-budgets.ts";
import { type Finding, worstFirst } from "./explanation.ts";
import type { FleetOfView } from "./fleet-view.ts";

export interface CountedBudget {
	readonly row: BudgetRow;
	/** The counts for decide(), or why they are unusable. */
	readonly counted: PlanBudget | Finding;
}

export interface Candidate {
	readonly clusterId: string;
	readonly pod: PodReference;
}

/** A count that takes longer may be out of date when it arrives. */
const freshForMs = 5_000;

export async function countBudget(
	{ members, descriptions }: Pick<FleetOfView, "members" | "descriptions">,
	budget: RoundBudget,
	candidates: readonly Candidate[],
	now: () => number,
): Promise<CountedBudget> {
	const answers = await Promise.all(
		members.map(async (member): Promise<CountOfMember> => {
			if (!descriptions.has(member.id)) {
				const error = new AgentUnavailableError("its agent gives no answer", member.name);
				return { cluster: member.name, count: error };
			}
			const pods = candidates.filter(({ clusterId }) => clusterId === member.id).map(({ pod }) => pod);
			return { cluster: member.name, count: await lookInTime(member, budget, pods, now) };
		}),
	);
	const memberIds = members.map(({ id }) => id);
	const row = budgetRow(budget, memberIds, answers);
	const findings = answers.flatMap(({ cluster, count }) =>
		count instanceof Error ? [failedCount(budget, cluster, count)] : [],
	);
	const [finding] = worstFirst(findings);
	if (finding) return { row, counted: finding };
	const counts = answers.flatMap(({ count }) => (count instanceof Error ? [] : [count]));
	const key = formatBudgetName(budget.name);
	return { row, counted: { key, memberIds, bound: boundText(row.members), counted: { budget, counts } } };
}

async function lookInTime(
	member: Pick<AgentCluster, "look" | "name">,
	budget: RoundBudget,
	pods: readonly PodReference[],
	now: () => number,
): Promise<Count | Error> {
	const askedAt = now();
	try {
		const count = await lookInParts(member, budget, pods);
		const tookMs = now() - askedAt;
		if (tookMs <= freshForMs) return count;
		const took = `took ${(tookMs / 1_000).toFixed(1)} s to count: that is too old to go by`;
		return new AgentUnavailableError(took, member.name);
	} catch (error) {
		if (isKnownFailure(error)) return error;
		throw error;
	}
}

function isKnownFailure(error: unknown): error is Error {
	return (
		error instanceof AgentUnavailableError ||
		error instanceof GarbledLeaseError ||
		error instanceof FleetsDifferError ||
		isAgentRefusal(error)
	);
}

function failedCount({ name }: RoundBudget, cluster: string, error: Error): Finding {
	const budget = formatBudgetName(name);
	if (error instanceof GarbledLeaseError || error instanceof FleetsDifferError) {
		const { reason, message } = error;
		return { verdict: "Refused", reason, message, budget, clusters: [cluster], usedBy: [] };
	}
	return {
		verdict: "Unknown",
		reason: isAgentRefusal(error) ? "AgentRefused" : "PeerUnreachable",
		message: `cannot count budget ${budget} in cluster ${cluster}: ${error.message}`,
		budget,
		clusters: [cluster],
		usedBy: [],
	};
}

// Lists the budgets in all members. The list fails if one member does not answer.
import type { BudgetsOfMember, ListedBudgets } from "../../disruption/budget/coverage-judgement.ts";
import type { AgentCluster, BudgetList } from "../../proto/agent-cluster.ts";
import { runClock } from "../kubernetes/run-clock.ts";
import { type Meeting, descriptionsById } from "./meeting.ts";

export async function listBudgetsOf(
	members: readonly AgentCluster[],
	namespaces: readonly string[],
): Promise<readonly BudgetsOfMember[]> {
	return Promise.all(members.map((member) => askMember(member, namespaces)));
}

/**
 * Asks only the members that have not reported their budgets yet. The result counts as old as the oldest question, including those of
 * `meetings`.
 */
export async function listAhead(
	members: readonly AgentCluster[],
	namespaces: readonly string[],
	meetings: readonly Meeting[],
): Promise<ListedBudgets> {
	const said = descriptionsById(meetings);
	const askedAt = Math.min(runClock(), ...meetings.map((meeting) => meeting.askedAt));
	const listed = await Promise.all(
		members.map(async (member) => {
			const told = said.get(member.id);
			const list = told?.description.budgets;
			return told && list ? budgetsOf(member, list, told.tookMs) : askMember(member, namespaces);
		}),
	);
	return { askedAt, namespaces, members: listed };
}

async function askMember(member: AgentCluster, namespaces: readonly string[]): Promise<BudgetsOfMember> {
	const askedAt = runClock();
	const list = await member.listBudgets(namespaces);
	return budgetsOf(member, list, runClock() - askedAt);
}

function budgetsOf({ id, name }: AgentCluster, { fleetHash, budgets }: BudgetList, tookMs: number): BudgetsOfMember {
	return { clusterId: id, clusterName: name, fleetHash, budgets, tookMs };
}

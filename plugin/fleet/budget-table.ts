// What each budget allows over all members: the rows of `kubectl xpdb budgets`. The numbers and the refusals are those of
// decide(), which every round asks.
import { type BudgetName, formatBudgetName, type RoundBudget } from "../../disruption/budget/budget.ts";
import { type Count, mostUnavailableTold, type UnavailablePod } from "../../disruption/budget/cluster.ts";
import type { BudgetsOfMember } from "../../disruption/budget/coverage-judgement.ts";
import { judgeBudget } from "../../disruption/budget/decide.ts";
import { type BudgetCounts, readSpecs } from "../../disruption/budget/allowance.ts";
import { AgentUnavailableError } from "../../disruption/errors.ts";
import { errorText } from "../kubernetes/api-error.ts";
import { type BudgetOfMember, budgetOfMembers } from "./budget-members.ts";
import type { Fleet } from "./fleet.ts";

export interface BudgetRow {
	readonly namespace: string;
	readonly name: string;
	/** Undefined where nobody can know. */
	readonly allowed: number | undefined;
	readonly healthy: number | undefined;
	readonly need: number | undefined;
	readonly expected: number | undefined;
	readonly suspended: boolean;
	/** By member name; undefined where nobody can know. */
	readonly perCluster: ReadonlyMap<string, CountsOfMember>;
	/** As each member that has it has it. */
	readonly members: readonly BudgetOfMember[];
	/** Pods that are counted as unavailable, of each member at most as many as it tells: those with a holder first. */
	readonly usedBy: readonly PodOfBudget[];
	/** Why it refuses everything, if it does. */
	readonly problem: string | undefined;
}

export type PodOfBudget = UnavailablePod & {
	readonly cluster: string;
	/** Why no pod comes in its place. none: no controller makes one. unneeded: there are as many as its workload wants. */
	readonly replacement?: "none" | "unneeded";
};

export interface CountsOfMember {
	readonly healthy: number | undefined;
	readonly expected: number | undefined;
	/** Of those that are expected: pods that the budget does not select; left out where there are none. */
	readonly mislabelled?: number;
}

/** Counts of one budget; an error in place of a count that could not be had. */
export interface CountOfMember {
	readonly cluster: string;
	readonly count: Count | Error;
}

/** What was listed while the fleet was reached is not asked for again: a table is as old as its first line. */
export async function readBudgetRows(fleet: Fleet, namespaces: readonly string[]): Promise<readonly BudgetRow[]> {
	const ahead = fleet.listedAhead;
	const known = ahead?.namespaces.join() === namespaces.join() ? ahead.members : [];
	const lists = await Promise.all(
		fleet.members.map(async (member): Promise<ListOfMember> => {
			// Told by the fleet already; what the others have is still worth a row.
			if (!fleet.descriptions.has(member.id)) return { clusterName: member.name, budgets: [] };
			const { budgets } =
				known.find(({ clusterId }) => clusterId === member.id) ?? (await member.listBudgets(namespaces));
			return { clusterName: member.name, budgets };
		}),
	);
	const names = new Map(lists.flatMap(({ budgets }) => budgets.map(({ name }) => [formatBudgetName(name), name])));
	const rows = [...names.keys()].toSorted().flatMap((key) => {
		const name = names.get(key);
		return name ? [readBudgetRow(fleet, name, lists)] : [];
	});
	return Promise.all(rows);
}

/** `lists`: of the members that told. */
export async function readBudgetRow(
	{ members, descriptions }: Pick<Fleet, "members" | "descriptions">,
	name: BudgetName,
	lists: readonly ListOfMember[],
): Promise<BudgetRow> {
	const found = countable(name, lists);
	if (found.kind === "row") return found.row;
	const { budget } = found;
	const counts = await Promise.all(
		members.map(async (member): Promise<CountOfMember> => {
			if (!descriptions.has(member.id)) return { cluster: member.name, count: new Error("its agent gives no answer") };
			try {
				return {
					cluster: member.name,
					count: await member.look({ budget: name, selector: budget.selector, candidates: [], thisBudgetAlone: true }),
				};
			} catch (error) {
				if (error instanceof AgentUnavailableError) return { cluster: member.name, count: error };
				throw error;
			}
		}),
	);
	return listedRow(
		budget,
		members.map(({ id }) => id),
		lists,
		counts,
	);
}

/** The budgets of a member. */
export type ListOfMember = Pick<BudgetsOfMember, "clusterName" | "budgets">;

/** What is to be counted of a budget, or its row where nothing can be: without a selector nothing is. */
export function countable(
	name: BudgetName,
	lists: readonly ListOfMember[],
): { readonly kind: "budget"; readonly budget: RoundBudget } | { readonly kind: "row"; readonly row: BudgetRow } {
	const read = readSpecs(formatBudgetName(name), lists);
	if (read.kind === "refused") {
		return { kind: "row", row: { ...unknownRow(name, [], read.message), members: budgetOfMembers(name, lists) } };
	}
	const selector = read.specs[0]?.spec.selector;
	if (!selector) throw new Error("a budget that no member has");
	return { kind: "budget", budget: { name, selector } };
}

/** Its members are as the lists have them: a count that is missing must not hide what its member has. */
export function listedRow(
	budget: RoundBudget,
	memberIds: readonly string[],
	lists: readonly ListOfMember[],
	counts: readonly CountOfMember[],
): BudgetRow {
	return { ...budgetRow(budget, memberIds, counts), members: budgetOfMembers(budget.name, lists) };
}

/** A count that is missing makes all sums unknown, and unknown allows nothing. */
export function budgetRow(
	budget: RoundBudget,
	memberIds: readonly string[],
	counts: readonly CountOfMember[],
): BudgetRow {
	const missing = counts.flatMap(({ cluster, count }) =>
		count instanceof Error ? [`${cluster}: ${errorText(count)}`] : [],
	);
	if (missing.length > 0) return unknownRow(budget.name, counts, missing.join("; "));
	return countedRow(memberIds, { budget, counts: answered(counts) });
}

/** Of a budget that every member has counted. */
export function countedRow(memberIds: readonly string[], counted: BudgetCounts): BudgetRow {
	const { name } = counted.budget;
	const counts = counted.counts.map((count) => ({ cluster: count.clusterName, count }));
	const judged = judgeBudget(memberIds, counted);
	if (judged.kind !== "state") return unknownRow(name, counts, judged.message);
	const { healthy, need, expected, left } = judged.state;
	return {
		...unknownRow(name, counts, undefined),
		healthy,
		need,
		expected,
		allowed: left,
		suspended: need === undefined,
	};
}

function answered(counts: readonly CountOfMember[]): readonly Count[] {
	return counts.flatMap(({ count }) => (count instanceof Error ? [] : [count]));
}

/** Of a budget of which nobody knows what it allows, with what is known. */
export function unknownRow(name: BudgetName, counts: readonly CountOfMember[], problem: string | undefined): BudgetRow {
	return {
		...name,
		allowed: undefined,
		healthy: undefined,
		need: undefined,
		expected: undefined,
		suspended: false,
		members: budgetOfMembers(name, answered(counts)),
		usedBy: answered(counts).flatMap(unavailableOf),
		perCluster: new Map(
			counts.map(({ cluster, count }) => [
				cluster,
				count instanceof Error ? { healthy: undefined, expected: undefined } : countsOf(count),
			]),
		),
		problem,
	};
}

function countsOf({ healthy, expected, mislabelled = [] }: Count): CountsOfMember {
	const others = mislabelled.reduce((sum, workload) => sum + workload.others, 0);
	return {
		healthy,
		expected: expected.kind === "known" ? expected.pods : undefined,
		...(others > 0 && { mislabelled: others }),
	};
}

/** A pod that ends is not replaced where all that are wanted are there: after a scale-down, or when its replacement came first. */
function unavailableOf(count: Count): readonly PodOfBudget[] {
	const { clusterName: cluster, unavailable } = count;
	const { healthy = 0, expected, mislabelled = 0 } = countsOf(count);
	const there = healthy + mislabelled + unavailable.filter(({ why }) => why === "NotReady").length;
	const isUnneeded = expected !== undefined && unavailable.length < mostUnavailableTold && there >= expected;
	return unavailable.map((pod) => ({
		...pod,
		cluster,
		...(isUnneeded && pod.why !== "NotReady" && { replacement: "unneeded" as const }),
	}));
}

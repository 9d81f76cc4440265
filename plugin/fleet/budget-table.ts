// Computes the rows that commands and screens show of budgets: what each budget allows across all members. decide.ts computes the numbers
// and refusals, as in every round.
import { type BudgetName, formatBudgetName, type RoundBudget } from "../../disruption/budget/budget.ts";
import { type Count, mostUnavailableTold, type UnavailablePod } from "../../disruption/budget/cluster.ts";
import type { BudgetsOfMember } from "../../disruption/budget/coverage-judgement.ts";
import { judgeBudget } from "../../disruption/budget/decide.ts";
import { type BudgetCounts, readSpecs } from "../../disruption/budget/allowance.ts";
import { AgentUnavailableError } from "../../disruption/errors.ts";
import { errorText } from "../kubernetes/api-error.ts";
import { type BudgetOfMember, budgetOfMembers } from "./budget-members.ts";
import type { Fleet } from "./fleet.ts";
import { readToldCounts, type ToldCounts } from "./told-counts.ts";

export interface BudgetRow {
	readonly namespace: string;
	readonly name: string;
	/** These four are undefined if unknown. All but `healthy` are also undefined if the budget is suspended. */
	readonly allowed: number | undefined;
	readonly healthy: number | undefined;
	readonly need: number | undefined;
	readonly expected: number | undefined;
	readonly suspended: boolean;
	/** By member name. */
	readonly perCluster: ReadonlyMap<string, CountsOfMember>;
	/** The budget's definition in each member that has the budget. */
	readonly members: readonly BudgetOfMember[];
	/** The pods counted as unavailable. Each member reports a limited number of them, those with a holder first. */
	readonly usedBy: readonly PodOfBudget[];
	/** Why the budget refuses everything, or why its numbers are unknown. */
	readonly problem: string | undefined;
}

export type PodOfBudget = UnavailablePod & {
	readonly cluster: string;
	/** Why no pod replaces this one. none: no controller creates one. unneeded: the workload has as many pods as it wants. */
	readonly replacement?: "none" | "unneeded";
};

export interface CountsOfMember {
	readonly healthy: number | undefined;
	readonly expected: number | undefined;
	/** The number of expected pods whose labels the budget does not select. Left out if it is 0. */
	readonly mislabelled?: number;
}

export interface CountOfMember {
	readonly cluster: string;
	readonly count: Count | Error;
}

/** From this many budgets on, each member is asked once for all counts. For fewer, a look at each one is sooner. */
const toldFrom = 20;

/**
 * Returns the rows of all budgets in these namespaces. Lists that were read while connecting are reused, so the rows may show budgets of
 * that moment.
 */
export async function readBudgetRows(fleet: Fleet, namespaces: readonly string[]): Promise<readonly BudgetRow[]> {
	const ahead = fleet.listedAhead;
	const known = ahead?.namespaces.join() === namespaces.join() ? ahead.members : [];
	const lists = await Promise.all(
		fleet.members.map(async (member): Promise<ListOfMember> => {
			// The fleet has already reported that this member is silent. The other members' answers still make a row.
			if (!fleet.descriptions.has(member.id)) return { clusterName: member.name, budgets: [] };
			const { budgets } =
				known.find(({ clusterId }) => clusterId === member.id) ?? (await member.listBudgets(namespaces));
			return { clusterName: member.name, budgets };
		}),
	);
	const names = new Map(lists.flatMap(({ budgets }) => budgets.map(({ name }) => [formatBudgetName(name), name])));
	const told = names.size < toldFrom ? new Map() : await readToldByMember(fleet, namespaces);
	const byName = groupedByName(lists);
	const rows = [...names.keys()].toSorted().flatMap((key) => {
		const name = names.get(key);
		return name ? [readBudgetRow(fleet, name, byName.get(key) ?? lists, told)] : [];
	});
	return Promise.all(rows);
}

type ToldByMember = ReadonlyMap<string, ToldCounts | Error>;

/** By member id. An error is why none of the member's counts is known. */
async function readToldByMember(fleet: Fleet, namespaces: readonly string[]): Promise<ToldByMember> {
	const told = new Map<string, ToldCounts | Error>();
	await Promise.all(
		fleet.members.map(async (member) => {
			if (!fleet.descriptions.has(member.id)) return;
			try {
				told.set(member.id, await readToldCounts(member, namespaces));
			} catch (error) {
				if (!(error instanceof AgentUnavailableError)) throw error;
				told.set(member.id, error);
			}
		}),
	);
	return told;
}

/** Returns the lists of each budget alone, so that 5,000 budgets are not searched 5,000 times. */
function groupedByName(lists: readonly ListOfMember[]): ReadonlyMap<string, readonly ListOfMember[]> {
	const byName = new Map<string, ListOfMember[]>();
	const empty = (): ListOfMember[] => lists.map(({ clusterName }) => ({ clusterName, budgets: [] }));
	for (const [index, { clusterName, budgets }] of lists.entries()) {
		for (const budget of budgets) {
			const key = formatBudgetName(budget.name);
			const of = byName.get(key) ?? empty();
			of[index] = { clusterName, budgets: [...(of[index]?.budgets ?? []), budget] };
			byName.set(key, of);
		}
	}
	return byName;
}

/** Counts one budget in all members. `lists`: the budgets of the members that answered. `told`: counts that are known already. */
export async function readBudgetRow(
	{ members, descriptions }: Pick<Fleet, "members" | "descriptions">,
	name: BudgetName,
	lists: readonly ListOfMember[],
	told: ToldByMember = new Map(),
): Promise<BudgetRow> {
	const found = countable(name, lists);
	if (found.kind === "row") return found.row;
	const { budget } = found;
	const counts = await Promise.all(
		members.map(async (member): Promise<CountOfMember> => {
			if (!descriptions.has(member.id)) return { cluster: member.name, count: new Error("its agent gives no answer") };
			const counts = told.get(member.id);
			const count = counts instanceof Error ? counts : counts?.get(formatBudgetName(name));
			// A member without the budget tells nothing of it, but its pods count.
			if (count) return { cluster: member.name, count };
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

export type ListOfMember = Pick<BudgetsOfMember, "clusterName" | "budgets">;

/** Returns the budget to count, or its finished row if its specs cannot be used: without a selector, no pod can be counted. */
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

/** Takes `members` from the lists, so that a missing count does not hide a member's definition. */
export function listedRow(
	budget: RoundBudget,
	memberIds: readonly string[],
	lists: readonly ListOfMember[],
	counts: readonly CountOfMember[],
): BudgetRow {
	return { ...budgetRow(budget, memberIds, counts), members: budgetOfMembers(budget.name, lists) };
}

/** If one count is missing, all sums are unknown, and an unknown sum allows nothing. */
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

/** `counted` must have a count of every member. */
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

/**
 * Returns the pods that a member counts as unavailable. A reserved or terminating pod gets no replacement if all wanted pods exist: after a
 * scale-down, or if its replacement came first.
 */
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

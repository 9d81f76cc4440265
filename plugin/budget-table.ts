// What each budget allows over all members: the rows of `kubectl xpdb budgets`.
import {
	type BudgetSpec,
	desiredHealthy,
	formatBudgetName,
	needsExpectedPods,
	parseBudgetSpec,
} from "../disruption/budget.ts";
import type { Count, MemberBudget } from "../disruption/cluster.ts";
import { AgentUnavailableError, InvalidBudgetError } from "../disruption/errors.ts";
import { formatSelector } from "../disruption/selector.ts";
import { errorText } from "./api-error.ts";
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
	/** Why it refuses everything, if it does. */
	readonly problem: string | undefined;
}

export interface CountsOfMember {
	readonly healthy: number | undefined;
	readonly expected: number | undefined;
}

/** A budget as one member has it. */
export interface BudgetOfMember extends MemberBudget {
	readonly cluster: string;
}

/** Counts of one budget; an error in place of a count that could not be had. */
export interface CountOfMember {
	readonly cluster: string;
	readonly count: Count | Error;
}

export async function readBudgetRows(fleet: Fleet, namespaces: readonly string[]): Promise<readonly BudgetRow[]> {
	const lists = await Promise.all(
		fleet.members.map(async (member) => {
			// Told by the fleet already; what the others have is still worth a row.
			if (!fleet.descriptions.has(member.id)) return [];
			const { budgets } = await member.listBudgets(namespaces);
			return budgets.map((budget): BudgetOfMember => ({ ...budget, cluster: member.name }));
		}),
	);
	const byName = Map.groupBy(lists.flat(), ({ name }) => formatBudgetName(name));
	const rows = [...byName.keys()].toSorted().map((key) => readRow(fleet, byName.get(key) ?? []));
	return Promise.all(rows);
}

async function readRow({ members, descriptions }: Fleet, budgets: readonly BudgetOfMember[]): Promise<BudgetRow> {
	const [first] = budgets;
	if (!first) throw new Error("a budget that no member has");
	const specs = readSpecs(budgets);
	if (typeof specs === "string") return budgetRow(first, specs, []);
	const selector = specs[0]?.spec.selector;
	if (!selector) throw new Error("a budget without a spec");
	const counts = await Promise.all(
		members.map(async (member): Promise<CountOfMember> => {
			if (!descriptions.has(member.id)) return { cluster: member.name, count: new Error("its agent gives no answer") };
			try {
				return { cluster: member.name, count: await member.look({ budget: first.name, selector, candidates: [] }) };
			} catch (error) {
				if (error instanceof AgentUnavailableError) return { cluster: member.name, count: error };
				throw error;
			}
		}),
	);
	return budgetRow(first, specs, counts);
}

interface SpecOfMember {
	readonly cluster: string;
	readonly spec: BudgetSpec;
}

/** The specs, or why they refuse everything. */
export function readSpecs(budgets: readonly BudgetOfMember[]): readonly SpecOfMember[] | string {
	const specs: SpecOfMember[] = [];
	for (const { cluster, spec } of budgets) {
		try {
			specs.push({ cluster, spec: parseBudgetSpec(spec) });
		} catch (error) {
			if (error instanceof InvalidBudgetError) return `${cluster}: ${error.message}`;
			throw error;
		}
	}
	const byText = Map.groupBy(specs, ({ spec }) => formatSelector(spec.selector));
	if (byText.size > 1) {
		const parts = [...byText].map(
			([text, members]) => `"${text}" in ${members.map(({ cluster }) => cluster).join(", ")}`,
		);
		return `selectors differ: ${parts.join(", ")}`;
	}
	return specs;
}

/** The sums over all counts; one that is missing makes them unknown, and unknown allows nothing. */
export function budgetRow(
	{ name }: MemberBudget,
	specs: readonly SpecOfMember[] | string,
	counts: readonly CountOfMember[],
): BudgetRow {
	const perCluster = new Map(
		counts.map(({ cluster, count }) => [
			cluster,
			count instanceof Error
				? { healthy: undefined, expected: undefined }
				: { healthy: count.healthy, expected: count.expected.kind === "known" ? count.expected.pods : undefined },
		]),
	);
	const base = { namespace: name.namespace, name: name.name, perCluster };
	const unknown = { allowed: undefined, healthy: undefined, need: undefined, expected: undefined };
	if (typeof specs === "string") return { ...base, ...unknown, suspended: false, problem: specs };
	const suspended = specs.every(({ spec }) => spec.suspended);
	const problems: string[] = [];
	let healthy: number | undefined = 0;
	let expected: number | undefined = 0;
	for (const { cluster, count } of counts) {
		if (count instanceof Error) {
			problems.push(`${cluster}: ${errorText(count)}`);
			healthy = undefined;
			expected = undefined;
			continue;
		}
		if (healthy !== undefined) healthy += count.healthy;
		if (count.expected.kind === "known") {
			if (expected !== undefined) expected += count.expected.pods;
		} else {
			expected = undefined;
			if (specs.some(({ spec }) => needsExpectedPods(spec.bound)))
				problems.push(`${cluster}: ${count.expected.reason}`);
		}
		const missing = specs.flatMap(({ spec }) => spec.features).filter((feature) => !count.features.includes(feature));
		if (missing.length > 0) problems.push(`${cluster}: its agent does not understand ${missing.join(", ")}`);
	}
	const need = needOf(specs, expected);
	const problem = problems.length > 0 ? problems.join("; ") : undefined;
	const known = healthy !== undefined && need !== undefined && problem === undefined;
	const allowed = known ? (expected === 0 ? 0 : Math.max(0, (healthy ?? 0) - (need ?? 0))) : undefined;
	return { ...base, allowed: suspended ? undefined : allowed, healthy, need, expected, suspended, problem };
}

function needOf(specs: readonly SpecOfMember[], expected: number | undefined): number | undefined {
	if (expected !== undefined) return Math.max(...specs.map(({ spec }) => desiredHealthy(spec.bound, expected)));
	if (specs.some(({ spec }) => needsExpectedPods(spec.bound))) return undefined;
	return Math.max(...specs.map(({ spec }) => desiredHealthy(spec.bound, 0)));
}

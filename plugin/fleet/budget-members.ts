// Reads one budget as each member has it, and finds how members differ. The strictest bound applies. The budget is suspended only if all
// members that have it suspend it.
import { type BudgetName, formatBound, formatBudgetName, parseBudgetSpec } from "../../disruption/budget/budget.ts";
import type { BudgetsOfMember } from "../../disruption/budget/coverage-judgement.ts";
import { InvalidBudgetError } from "../../disruption/errors.ts";
import { parseSuspension, type Suspension } from "../../disruption/budget/suspension.ts";

export interface BudgetOfMember {
	/** The member's name in the fleet. */
	readonly cluster: string;
	/** For example "maxUnavailable 1". Undefined if the spec is invalid. */
	readonly bound: string | undefined;
	readonly suspended: boolean;
	/** As claimed by the user who suspended it. Undefined if the budget is not suspended, or has no readable annotation. */
	readonly suspension: Suspension | undefined;
}

/** Returns the budget's definition in each member that has the budget. */
export function budgetOfMembers(
	name: BudgetName,
	lists: readonly Pick<BudgetsOfMember, "clusterName" | "budgets">[],
): readonly BudgetOfMember[] {
	return lists.flatMap(({ clusterName: cluster, budgets }) =>
		budgets
			.filter((budget) => formatBudgetName(budget.name) === formatBudgetName(name))
			.map(({ spec, suspension: text }): BudgetOfMember => {
				const suspension = text === undefined ? undefined : parseSuspension(text);
				try {
					const { bound, suspended } = parseBudgetSpec(spec);
					// The annotation applies only while the budget is suspended.
					return { cluster, bound: formatBound(bound), suspended, suspension: suspended ? suspension : undefined };
				} catch (error) {
					if (!(error instanceof InvalidBudgetError)) throw error;
					return { cluster, bound: undefined, suspended: false, suspension: undefined };
				}
			}),
	);
}

export function suspensionOf(members: readonly BudgetOfMember[]): Suspension | undefined {
	return members.find(({ suspension }) => suspension)?.suspension;
}

/** `budget` is NAMESPACE/NAME. */
export function unreadableIn(
	budget: string,
	lists: readonly Pick<BudgetsOfMember, "clusterName" | "budgets">[],
): readonly string[] {
	const [namespace = "", name = ""] = budget.split("/");
	return budgetOfMembers({ namespace, name }, lists)
		.filter(({ bound }) => bound === undefined)
		.map(({ cluster }) => cluster);
}

/**
 * Returns who suspended the budget. Undefined unless every member that has the budget suspends it, as in a round (allowanceOf in
 * allowance.ts).
 */
export function suspensionOfAll(
	name: BudgetName,
	lists: readonly Pick<BudgetsOfMember, "clusterName" | "budgets">[],
): { readonly suspension: Suspension | undefined } | undefined {
	const members = budgetOfMembers(name, lists);
	if (members.length === 0 || !members.every(({ suspended }) => suspended)) return undefined;
	return { suspension: suspensionOf(members) };
}

/** Returns, for example, "c3: maxUnavailable 2, elsewhere maxUnavailable 1", or the bound that all members have. */
export function boundText(members: readonly BudgetOfMember[]): string {
	return differing(members, ({ bound = "?" }) => bound);
}

/** Returns what differs between the members; undefined if nothing does. `clusters`: all members that answered. */
export function differences(members: readonly BudgetOfMember[], clusters: readonly string[]): string | undefined {
	const found = [
		...(isSame(members, ({ bound }) => bound) ? [] : [`${boundText(members)}: the strictest holds`]),
		...(isSame(members, ({ suspended }) => suspended) ? [] : [suspendedInSome(members)]),
		...missing(members, clusters),
	];
	return found.length === 0 ? undefined : found.join("; ");
}

function suspendedInSome(members: readonly BudgetOfMember[]): string {
	const names = (suspended: boolean): string =>
		members
			.filter((member) => member.suspended === suspended)
			.map(({ cluster }) => cluster)
			.join(", ");
	return `suspended in ${names(true)} but not in ${names(false)}, so it still applies in the whole fleet`;
}

function missing(members: readonly BudgetOfMember[], clusters: readonly string[]): readonly string[] {
	const without = clusters.filter((name) => !members.some(({ cluster }) => cluster === name));
	return without.length === 0 ? [] : [`missing in ${without.join(", ")}; it still applies to pods there`];
}

function isSame(members: readonly BudgetOfMember[], valueOf: (member: BudgetOfMember) => unknown): boolean {
	return new Set(members.map(valueOf)).size <= 1;
}

/** Names each value with its members. The most frequent value is reported as "elsewhere". */
function differing(members: readonly BudgetOfMember[], valueOf: (member: BudgetOfMember) => string): string {
	const byValue = [...Map.groupBy(members, valueOf)].toSorted(([, a], [, b]) => a.length - b.length);
	const [elsewhere] = byValue.at(-1) ?? [];
	if (byValue.length <= 1) return elsewhere ?? "";
	const others = byValue
		.slice(0, -1)
		.map(([value, those]) => `${those.map(({ cluster }) => cluster).join(", ")}: ${value}`);
	return `${others.join(", ")}, elsewhere ${elsewhere}`;
}

// Reports how agents will treat existing budgets: by name, over the whole fleet. x-pdb differs: it joins budgets by their selectors,
// suspends in one cluster only, and calls probes. Pure.
import {
	type BudgetName,
	desiredHealthy,
	formatBound,
	formatBudgetName,
	supportedFeatures,
} from "../../disruption/budget/budget.ts";
import { neverMetText } from "../../disruption/budget/budget-text.ts";
import { readSpecs } from "../../disruption/budget/allowance.ts";
import { formatSelector, matchesSelector } from "../../disruption/budget/selector.ts";
import { boundText, budgetOfMembers, differences } from "../fleet/budget-members.ts";
import type { FoundBudgets } from "./found-budgets.ts";

/** Keeps the plan readable. Budgets with problems come first. */
const maxBudgets = 20;

interface JudgedBudget {
	readonly name: string;
	readonly bound: string;
	readonly clusters: readonly string[];
	readonly problems: readonly string[];
}

/** Returns lines for the plan; empty if there is no budget. */
export function foundBudgetLines(found: readonly FoundBudgets[]): readonly string[] {
	const names = new Map(
		found.flatMap(({ budgets }) => budgets.map(({ name }) => [formatBudgetName(name), name] as const)),
	);
	const judged = [...names.values()]
		.map((name) => judge(name, found))
		.toSorted(
			(a, b) => Number(a.problems.length === 0) - Number(b.problems.length === 0) || (a.name < b.name ? -1 : 1),
		);
	if (judged.length === 0) return [];
	const shown = judged.slice(0, maxBudgets);
	const more = judged.length - shown.length;
	return [
		`${judged.length} ${judged.length === 1 ? "budget exists" : "budgets exist"} already. Each applies to the pods of the whole fleet, for every eviction through xpdb:`,
		...shown.flatMap(({ name, bound, clusters, problems }) => [
			`  ${problems.length === 0 ? "=" : "!"} ${name}: ${bound}, in ${clusters.join(", ")}`,
			...problems.map((problem) => `      ${problem}`),
		]),
		...(more > 0 ? [`  and ${more} more`] : []),
	];
}

function judge(budgetName: BudgetName, found: readonly FoundBudgets[]): JudgedBudget {
	const name = formatBudgetName(budgetName);
	const members = budgetOfMembers(budgetName, found);
	const clusters = members.map(({ cluster }) => cluster);
	const bound = boundText(members);
	const read = readSpecs(name, found);
	if (read.kind === "refused") {
		return {
			name,
			bound,
			clusters,
			problems: [`${read.message}: it lets no pod go until that is mended`],
		};
	}
	const differing = differences(
		members,
		found.map(({ clusterName }) => clusterName),
	);
	const selectors = new Set(read.specs.map(({ spec }) => formatSelector(spec.selector)));
	return {
		name,
		bound,
		clusters,
		problems: [
			...(selectors.size > 1 ? ["its selectors differ between clusters: until they are one it lets no pod go"] : []),
			...(differing === undefined ? [] : [differing]),
			...unsupported(read.specs),
			...twins(budgetName, found),
			...neverMet(name, { budgetName, specs: read.specs, found }),
		],
	};
}

type Specs = Extract<ReturnType<typeof readSpecs>, { readonly kind: "read" }>["specs"];

function unsupported(specs: Specs): readonly string[] {
	const missing = specs.flatMap(({ spec }) => spec.features).filter((feature) => !supportedFeatures.includes(feature));
	return missing.length === 0
		? []
		: [
				`it has a ${[...new Set(missing)].join(", ").toLowerCase()}, which no agent asks: it lets no pod go until that is taken out`,
			];
}

/** x-pdb locks by selector, and xpdb by name, so budgets with the same selector and another name are reported. */
function twins({ namespace, name }: BudgetName, found: readonly FoundBudgets[]): readonly string[] {
	const selectorOf = (budget: BudgetName): string | undefined => {
		const read = readSpecs(formatBudgetName(budget), found);
		const [first] = read.kind === "read" ? read.specs : [];
		return first && formatSelector(first.spec.selector);
	};
	const own = selectorOf({ namespace, name });
	const others = found
		.flatMap(({ budgets }) => budgets.map((budget) => budget.name))
		.filter((other) => other.namespace === namespace && other.name !== name && selectorOf(other) === own);
	const names = [...new Set(others.map((other) => other.name))];
	return names.length === 0
		? []
		: [`${names.join(", ")} selects the same pods: two names are two budgets, and both have to agree`];
}

function neverMet(
	name: string,
	{
		budgetName,
		specs,
		found,
	}: { readonly budgetName: BudgetName; readonly specs: Specs; readonly found: readonly FoundBudgets[] },
): readonly string[] {
	const [first] = specs;
	const pods = found.map((each) => each.pods);
	if (!first || pods.includes(undefined) || specs.every(({ spec }) => spec.suspended)) return [];
	const selected = pods
		.flatMap((each) => each ?? [])
		.filter(
			({ namespace, labels }) => namespace === budgetName.namespace && matchesSelector(first.spec.selector, labels),
		);
	if (selected.length === 0) return ["it selects no pod in any of these clusters: it keeps nothing"];
	const [strictest] = specs
		.map(({ spec }) => ({ bound: spec.bound, need: desiredHealthy(spec.bound, selected.length) }))
		.toSorted((a, b) => b.need - a.need);
	if (!strictest || strictest.need < selected.length) return [];
	return [neverMetText(name, formatBound(strictest.bound), { need: strictest.need, expected: selected.length })];
}

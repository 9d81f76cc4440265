// Finds the budgets that cover a pod: those of all members, even if the pod's own cluster lacks them.
import { type BudgetName, formatBudgetName, type LabelSelector } from "./budget.ts";
import type { MemberBudget } from "./cluster.ts";
import { InvalidBudgetError } from "../errors.ts";
import { isRecord } from "../record.ts";
import { matchesSelector, parseLabelSelector } from "./selector.ts";

/** `selector` is undefined if the budget covers the pod only because a member's selector is unreadable. */
interface CoveringBudget {
	readonly name: BudgetName;
	readonly selector: LabelSelector | undefined;
}

/**
 * Returns the budgets that cover a pod with these labels, sorted by name. `budgets` are those of all members. A budget with an unreadable
 * selector covers every pod of its namespace, so that it is refused and never skipped.
 */
export function coveringBudgets(
	budgets: Iterable<MemberBudget>,
	pod: { readonly namespace: string; readonly labels: Readonly<Record<string, string>> },
): readonly CoveringBudget[] {
	const found = new Map<string, CoveringBudget>();
	for (const { name, spec } of budgets) {
		if (name.namespace !== pod.namespace) continue;
		const selector = findSelector(spec);
		if (selector && !matchesSelector(selector, pod.labels)) continue;
		const key = formatBudgetName(name);
		if (!found.get(key)?.selector) found.set(key, { name, selector });
	}
	return [...found.keys()].toSorted().flatMap((key) => found.get(key) ?? []);
}

/** Caches the selectors of frozen specs, which cannot change, because callers pass the same specs many times. */
const known = new WeakMap<object, LabelSelector | undefined>();

function findSelector(spec: unknown): LabelSelector | undefined {
	if (!isRecord(spec) || !("selector" in spec)) return undefined;
	if (known.has(spec)) return known.get(spec);
	const selector = readSelector(spec);
	if (Object.isFrozen(spec) && isFrozenWhole(spec["selector"])) known.set(spec, selector);
	return selector;
}

function isFrozenWhole(value: unknown): boolean {
	if (typeof value !== "object" || value === null) return true;
	return Object.isFrozen(value) && Object.values(value).every(isFrozenWhole);
}

function readSelector(spec: Readonly<Record<string, unknown>>): LabelSelector | undefined {
	try {
		return parseLabelSelector(spec["selector"], "spec.selector");
	} catch (error) {
		if (error instanceof InvalidBudgetError) return undefined;
		throw error;
	}
}

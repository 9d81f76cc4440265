// Finds the budgets that cover a pod: those that any member of the fleet has, even if the pod's own cluster lacks them.
import { type BudgetName, formatBudgetName, type LabelSelector } from "./budget.ts";
import type { MemberBudget } from "./cluster.ts";
import { InvalidBudgetError } from "../errors.ts";
import { isRecord } from "../record.ts";
import { matchesSelector, parseLabelSelector } from "./selector.ts";

/** A budget that covers a pod. `selector` is undefined if the budget covers the pod only because a member's selector cannot be read. */
interface CoveringBudget {
	readonly name: BudgetName;
	readonly selector: LabelSelector | undefined;
}

/**
 * Returns the budgets among `budgets` (of all members) that cover a pod with these labels, sorted by name. If a selector cannot be read,
 * its budget covers every pod of its namespace, so that it is refused by name and never skipped.
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

/** The selectors of frozen specs, which cannot change. A watch on a namespace with 1,000 budgets reads the same specs again and again. */
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

// Makes the rows about the fleet's budgets, with a column for each member.
import type { Fleet } from "../fleet/fleet.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { type CheckRow, checkRow, type FoundProblem, notChecked, type Reading } from "./check-report.ts";
import {
	type JudgedBudget,
	judgeInForce,
	judgeLabels,
	judgeMet,
	judgeOwners,
	judgeReadable,
	judgeSame,
	uncounted,
} from "./judge-budgets.ts";
import { type FleetBudgetFacts, readBudgets } from "./read-budgets.ts";

const budgets = { category: "budgets", isNeeded: true } as const;
const titles = {
	readable: { ...budgets, title: "budgets can be judged" },
	same: { ...budgets, title: "budgets are the same everywhere" },
	inForce: { ...budgets, title: "no budget is suspended", isNeeded: false },
	met: { ...budgets, title: "budgets cover pods, and can be met" },
	owners: { ...budgets, title: "pods have owners where it counts", isNeeded: false },
} as const;

export type CheckedFleet = Pick<Fleet, "members" | "descriptions" | "memberOf" | "contextOf">;

export async function budgetRows(
	opening: Promise<Reading<CheckedFleet>>,
	contexts: readonly KubeContext[],
	{ namespace, now }: { readonly namespace: string | undefined; readonly now: () => number },
): Promise<readonly CheckRow[]> {
	const fleet = await opening;
	if (fleet.kind === "unread") {
		const names = contexts.map(({ name }) => name);
		return Object.values(titles).map((title) => checkRow(title, names, () => notChecked(fleet.why)));
	}
	const facts = await readBudgets(fleet.value, contexts, {
		namespaces: namespace === undefined ? [] : [namespace],
		now,
	});
	return rowsOf(fleet.value, contexts, facts);
}

/**
 * Returns a column for each member, with the name of its context and in the order of the contexts. Members without a context come last,
 * with their own names.
 */
function columnsOf({ members, contextOf }: Pick<Fleet, "members" | "contextOf">, contexts: readonly KubeContext[]) {
	const order = (context: string | undefined): number => {
		const at = contexts.findIndex(({ name }) => name === context);
		return at < 0 ? contexts.length : at;
	};
	return members
		.map(({ id, name }) => ({ name, context: contextOf(id), column: contextOf(id) ?? name }))
		.toSorted((a, b) => order(a.context) - order(b.context));
}

function rowsOf(
	fleet: Pick<Fleet, "members" | "contextOf">,
	contexts: readonly KubeContext[],
	facts: FleetBudgetFacts,
): readonly CheckRow[] {
	const [first] = contexts;
	if (!first) throw new Error("a check without a context");
	const columns = columnsOf(fleet, contexts);
	const answering = [...facts.perMember].flatMap(([name, { kind }]) => (kind === "read" ? [name] : []));
	const ways = new Map(
		columns.flatMap(({ name, context }) => (context === undefined ? [] : [[name, context] as const])),
	);
	const options = { suggest: first.suggest, context: first.name, contexts: ways, answering };
	const names = columns.map(({ column }) => column);
	const found = (judge: (budget: JudgedBudget, how: typeof options) => readonly FoundProblem[]) =>
		facts.budgets.flatMap((budget) => judge(budget, options));
	const counted = (column: string) => {
		const { name = "" } = columns.find((each) => each.column === column) ?? {};
		const reading = facts.perMember.get(name) ?? { kind: "unread", why: "its agent gives no answer" };
		return reading.kind === "unread" ? notChecked(reading.why) : { text: String(reading.value), findings: [] };
	};
	return [
		checkRow(titles.readable, names, counted, found(judgeReadable)),
		checkRow(titles.same, names, counted, found(judgeSame)),
		checkRow(
			titles.inForce,
			names,
			counted,
			found((budget) => judgeInForce(budget, { ...options, now: Date.now() })),
		),
		checkRow(titles.met, names, counted, [...found(judgeMet), ...found(judgeLabels), ...uncounted(facts.budgets)]),
		checkRow(
			titles.owners,
			names,
			(column) => {
				const { name = "", context } = columns.find((each) => each.column === column) ?? {};
				if (context === undefined) return notChecked("no context leads there, so that its pods are not listed");
				const pods = facts.pods.get(context);
				if (pods?.kind !== "read") return notChecked(pods?.why ?? "its pods were not listed");
				const findings = facts.budgets.flatMap((budget) => judgeOwners(budget, name, { ...options, context }));
				return { text: findings.length === 0 ? "yes" : "no", findings };
			},
			uncounted(facts.budgets),
		),
	];
}

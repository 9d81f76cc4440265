// Finds budgets that no round can judge, that differ between members, are suspended, can never be met, or cover nothing. Also finds pods
// without a controller, and workloads whose pods a budget expects but does not select. The counts are those of `explain`.
import { type BudgetName, formatBudgetName } from "../../disruption/budget/budget.ts";
import { mislabelledText } from "../../disruption/budget/budget-text.ts";
import type { MislabelledWorkload } from "../../disruption/budget/cluster.ts";
import { suspendedText } from "../events/suspension-text.ts";
import type { SuggestedCommands } from "../flags/suggested-commands.ts";
import { differences, suspensionOf } from "../fleet/budget-members.ts";
import type { BudgetRow } from "../fleet/budget-table.ts";
import { unsuspendCommand } from "../nodes/resume-command.ts";
import type { Finding } from "../plan/explain/explanation.ts";
import { isRoundReason } from "./check-reason.ts";
import type { FoundProblem } from "./check-report.ts";

export interface JudgedBudget {
	readonly name: BudgetName;
	readonly row: BudgetRow;
	readonly findings: readonly Finding[];
	/** False if its counts cannot be used. The findings say why. */
	readonly isCounted: boolean;
	/** Pods (NAMESPACE/NAME) whose eviction the budget never allows, because no controller says how many are expected. */
	readonly ownerless: readonly { readonly cluster: string; readonly pod: string }[];
	/** Workloads whose pods the budget expects, although it does not select all of them. Pods that are not selected use up the budget. */
	readonly mislabelled: readonly (MislabelledWorkload & { readonly cluster: string })[];
}

interface Options {
	readonly suggest: SuggestedCommands;
	readonly context: string;
	/** Contexts by the member's name. */
	readonly contexts: ReadonlyMap<string, string>;
	readonly answering: readonly string[];
}

/** Reports why no round can judge this budget. */
export function judgeReadable(
	{ name, findings }: JudgedBudget,
	{ suggest, context }: Options,
): readonly FoundProblem[] {
	return findings.flatMap(({ reason, message }) => {
		if (!isRoundReason(reason)) return [];
		const fix = suggest.xpdb(["explain", `budget/${name.name}`, "-n", name.namespace], context);
		return [{ reason, message, fix }];
	});
}

export function judgeSame(
	{ name, row }: JudgedBudget,
	{ suggest, context, answering }: Options,
): readonly FoundProblem[] {
	const text = differences(row.members, answering);
	if (text === undefined) return [];
	const fix = suggest.xpdb(["budgets", name.name, "-n", name.namespace, "-o", "wide"], context);
	return [{ reason: "BudgetsDiffer", message: `budget ${formatBudgetName(name)}: ${text}`, fix }];
}

/** Reports a suspended budget, because the user may have forgotten the suspension. */
export function judgeInForce(
	{ name, row }: JudgedBudget,
	{ suggest, now }: Pick<Options, "suggest"> & { readonly now: number },
): readonly FoundProblem[] {
	if (row.members.length === 0 || !row.members.every(({ suspended }) => suspended)) return [];
	const message = suspendedText(formatBudgetName(name), suspensionOf(row.members), now);
	return [{ reason: "BudgetSuspended", message, fix: unsuspendCommand(name, suggest) }];
}

export function judgeMet(budget: JudgedBudget, { suggest, context, contexts }: Options): readonly FoundProblem[] {
	const { name, row, findings } = budget;
	const explain = suggest.xpdb(["explain", `budget/${name.name}`, "-n", name.namespace], context);
	if (selectsNothing(row)) {
		const message = `budget ${formatBudgetName(name)} selects no pod in any cluster: it keeps nothing`;
		const having = row.members.flatMap(({ cluster }) => contexts.get(cluster) ?? []);
		const fix = suggest.kubectl(
			["get", "xpdb", name.name, "-n", name.namespace, "-o", "yaml"],
			having.includes(context) ? context : (having[0] ?? context),
		);
		return [{ reason: "BudgetSelectsNothing", message, fix }];
	}
	return findings
		.filter(({ reason }) => reason === "BudgetNeverMet")
		.map(({ message }) => ({ reason: "BudgetNeverMet", message, fix: explain }) as const satisfies FoundProblem);
}

/** Whether the counts show that the budget selects no healthy pod and expects none. */
function selectsNothing({ problem, suspended, perCluster, usedBy }: BudgetRow): boolean {
	if (problem !== undefined || suspended || usedBy.length > 0 || perCluster.size === 0) return false;
	return [...perCluster.values()].every(({ healthy, expected }) => healthy === 0 && expected === 0);
}

export function judgeLabels(
	{ name, mislabelled }: JudgedBudget,
	{ suggest, context }: Options,
): readonly FoundProblem[] {
	return mislabelled.map((workload) => ({
		reason: "PodsMislabelled",
		message: `budget ${formatBudgetName(name)} expects pods that it does not select${mislabelledText([workload])}`,
		fix: suggest.xpdb(["explain", `budget/${name.name}`, "-n", name.namespace], context),
	}));
}

/** Reports the budgets that were not counted, because they must not pass as ok. */
export function uncounted(budgets: readonly JudgedBudget[]): readonly FoundProblem[] {
	const names = budgets.filter(({ isCounted }) => !isCounted).map(({ name }) => formatBudgetName(name));
	const [first] = names;
	if (first === undefined) return [];
	const more = names.length > 1 ? ` and ${names.length - 1} more` : "";
	return [{ reason: "NotChecked", message: `budget ${first}${more} could not be counted` }];
}

export function judgeOwners(
	{ name, ownerless }: JudgedBudget,
	cluster: string,
	{ suggest, context }: Options,
): readonly FoundProblem[] {
	const pods = ownerless.filter((each) => each.cluster === cluster).map(({ pod }) => pod);
	const [first] = pods;
	if (first === undefined) return [];
	const more = pods.length > 1 ? ` and ${pods.length - 1} more` : "";
	const message = `budget ${formatBudgetName(name)} never lets ${first}${more} go: no controller says how many of them there should be`;
	const fix = suggest.xpdb(["explain", `pod/${first.split("/").at(-1)}`, "-n", name.namespace], context);
	return [{ reason: "PodsWithoutOwner", message, fix }];
}

// Reports at the end of a run the budgets that it evicted under and that lack pods, or whose counts are unknown.
import { formatBudgetName } from "../../disruption/budget/budget.ts";
import type { RoundRuntime } from "../../disruption/round/round-runtime.ts";
import type { EventSink, UnrecoveredBudget } from "../events/events.ts";
import { toldUsers } from "../events/told-users.ts";
import { usedByText } from "../events/used-by-text.ts";
import { type BudgetRow, readBudgetRow } from "../fleet/budget-table.ts";
import type { Fleet } from "../fleet/fleet.ts";
import { missingCount, missingPods, missingText } from "../fleet/missing-pods.ts";
import { describeBriefly } from "./report-error.ts";

/** The run is over, so the user must not wait longer than this. */
const tellWithinMs = 3_000;

export interface UnrecoveredQuestion {
	readonly fleet: Pick<Fleet, "members" | "descriptions" | "listBudgets">;
	/** NAMESPACE/NAME */
	readonly budgets: readonly string[];
	readonly emit: EventSink;
	readonly holder: string;
	readonly wallClock: () => number;
	readonly runtime: Pick<RoundRuntime, "sleep">;
}

export async function tellUnrecovered({ budgets, runtime, ...question }: UnrecoveredQuestion): Promise<void> {
	if (budgets.length === 0) return;
	const over = new AbortController();
	const late = runtime.sleep(tellWithinMs, over.signal).then(() => `no answer within ${tellWithinMs / 1_000} s`);
	const found = findUnrecovered(budgets, question).catch((error: unknown) => describeBriefly(error));
	const told = await Promise.race([found, late]).finally(() => over.abort());
	const unknown = (why: string) => (budget: string) => ({
		budget,
		missing: 0,
		usedBy: [],
		message: unknownText(budget, why),
	});
	const unrecovered: readonly UnrecoveredBudget[] = typeof told === "string" ? budgets.map(unknown(told)) : told;
	for (const each of unrecovered) question.emit({ type: "budget.notRecovered", ...each });
}

async function findUnrecovered(
	budgets: readonly string[],
	{ fleet, holder, wallClock }: Omit<UnrecoveredQuestion, "budgets" | "runtime">,
): Promise<readonly UnrecoveredBudget[]> {
	const lists = await fleet.listBudgets([...new Set(budgets.map((budget) => budget.split("/")[0] ?? ""))]);
	const names = new Map(
		lists.flatMap((list) => list.budgets.map(({ name }) => [formatBudgetName(name), name] as const)),
	);
	const rows = await Promise.all(
		budgets.flatMap((budget) => {
			const name = names.get(budget);
			// The budget was deleted meanwhile, so no agent counts its pods.
			return name ? [readBudgetRow(fleet, name, lists).then((row) => ({ budget, row }))] : [];
		}),
	);
	return rows.flatMap(({ budget, row }) => {
		const { healthy, expected, problem } = row;
		if (problem === undefined && healthy !== undefined && healthy >= (expected ?? 0)) return [];
		const usedBy = toldUsers(row.usedBy, holder);
		return [
			{
				budget,
				...(healthy !== undefined && { healthy }),
				...(expected !== undefined && { expected }),
				missing: missingCount(missingPods(row)),
				usedBy,
				message: unrecoveredText(budget, row, usedByText(usedBy, { at: wallClock() })),
			},
		];
	});
}

/** For example "not recovered: shop/pin 2/3, shop/pin-0 in c1: Pending 2m, 0/3 nodes are available". */
function unrecoveredText(budget: string, row: BudgetRow, users: string): string {
	if (row.problem !== undefined) return unknownText(budget, row.problem);
	const missing = missingPods(row).map((pods) => `${missingText(pods)} in ${pods.cluster}`);
	return [
		`not recovered: ${budget} ${row.healthy}/${row.expected ?? "?"}`,
		...(users === "" ? [] : [users]),
		...missing,
	].join(", ");
}

function unknownText(budget: string, why: string): string {
	return `not known whether budget ${budget} has recovered: ${why}`;
}

// All about one budget: the bound, each member's part, every pod that is not healthy and what it costs.
import { suspensionNow } from "../events/suspension-text.ts";
import { whenItFrees } from "../events/used-by-text.ts";
import { boundText, differences, suspensionOf } from "../fleet/budget-members.ts";
import type { BudgetRow, PodOfBudget } from "../fleet/budget-table.ts";
import type { HealthyHistory } from "../fleet/healthy-history.ts";
import { readHolder } from "../fleet/holder-identity.ts";
import { type MissingPods, missingPods, missingText, whenMissingFrees } from "../fleet/missing-pods.ts";
import type { MemberState } from "../fleet/watched-member.ts";
import type { FrameOptions } from "./frame-options.ts";
import { historyLines } from "./history-lines.ts";
import { padded, paddedName, piece, type StyledLine } from "./styled-line.ts";
import { sinceText, stateText } from "./user-text.ts";

type DetailsOptions = Pick<FrameOptions, "columns" | "glyphs" | "now"> & {
	/** Left out: its members' agents have kept none. */
	readonly history?: HealthyHistory | undefined;
};

export function budgetDetails(
	row: BudgetRow,
	members: readonly MemberState[],
	options: DetailsOptions,
): readonly StyledLine[] {
	const { problem, suspended } = row;
	const suspension = suspensionOf(row.members);
	const answering = members.filter((member) => member.problem === undefined).map(({ name }) => name);
	const differ = problem === undefined ? differences(row.members, answering) : undefined;
	return [
		[piece(boundText(row.members), "bold"), piece(sumText(row))],
		...(problem === undefined ? [] : [[piece(`refuses every eviction: ${problem}`, "bad" as const)]]),
		...(suspended
			? [
					[
						piece(
							`suspended: ${suspension ? suspensionNow(suspension, options.now) : "nobody wrote down who did it"}`,
							"warn" as const,
						),
					],
				]
			: []),
		...(differ === undefined ? [] : [[piece(differ, "warn" as const)]]),
		[
			piece(
				`${padded("CLUSTER", 14)}${padded("HEALTHY", 9)}${padded("EXPECTED", 10)}${padded("BOUND", 20)}AGENT`,
				"dim",
			),
		],
		...members.map((member) => memberLine(row, member)),
		...(options.history ? historyLines(options.history, row, options) : []),
		...usersLines(row, options),
	];
}

function sumText({ healthy, need, expected, suspended }: BudgetRow): string {
	if (suspended || need === undefined) return "";
	return `: ${healthy ?? "?"} healthy of ${expected ?? "?"}, ${need} must stay so`;
}

function memberLine(row: BudgetRow, { name, problem, isPolled }: MemberState): StyledLine {
	const counts = row.perCluster.get(name);
	const member = row.members.find(({ cluster }) => cluster === name);
	const bound = member ? `${member.bound ?? "?"}${member.suspended ? ", off" : ""}` : "-";
	return [
		piece(`${paddedName(name, 13)} `),
		piece(padded(String(counts?.healthy ?? "?"), 9)),
		piece(padded(String(counts?.expected ?? "?"), 10)),
		piece(padded(bound, 20)),
		problem === undefined
			? piece(isPolled ? "older: is asked" : "live", isPolled ? "warn" : "good")
			: piece(problem, "bad"),
	];
}

/** Each costs one of those that may be down; of each member the agents tell 20 at most. */
function usersLines(row: BudgetRow, options: DetailsOptions): readonly StyledLine[] {
	const { usedBy, need, expected } = row;
	const missing = missingPods(row);
	if (usedBy.length === 0 && missing.length === 0) return [];
	const most =
		need === undefined || expected === undefined ? "" : ` of the ${Math.max(0, expected - need)} that may be down`;
	return [
		[],
		[piece(`NOT HEALTHY: each costs 1${most}`, "bold")],
		...usedBy.flatMap((pod) => userLines(pod, options)),
		...missing.flatMap(missingLines),
	];
}

function missingLines(missing: MissingPods): readonly StyledLine[] {
	return [
		[piece(`${paddedName(missing.cluster, 13)} `), piece(missingText(missing), "warn")],
		[piece(`${" ".repeat(14)}${whenMissingFrees(missing)}`, "dim")],
	];
}

function userLines(pod: PodOfBudget, { now, columns }: DetailsOptions): readonly StyledLine[] {
	const { person, operation } =
		pod.holder === undefined ? { person: undefined, operation: undefined } : readHolder(pod.holder);
	const who = [operation, person && `by ${person}`, pod.account && `as ${pod.account}`].filter(Boolean).join(" ");
	return [
		[
			piece(`${paddedName(pod.cluster, 13)} `),
			piece(`${paddedName(pod.name, columns < 100 ? 25 : 39)} `),
			piece(`${stateText(pod)} ${sinceText(pod, now)}`.trimEnd(), "warn"),
		],
		// Below it there is room for whom to ask, which is wrapped and not cut.
		[piece(`${" ".repeat(14)}${who === "" ? "" : `${who}; `}${whenItFrees(pod)}`, "dim")],
	];
}

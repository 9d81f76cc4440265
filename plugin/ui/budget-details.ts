// Describes one budget: its bound, each member's counts, and its unhealthy pods.
import { suspensionNow } from "../events/suspension-text.ts";
import { whenItFrees } from "../events/used-by-text.ts";
import { boundText, differences, suspensionOf } from "../fleet/budget-members.ts";
import type { BudgetRow, PodOfBudget } from "../fleet/budget-table.ts";
import type { HealthyHistory } from "../fleet/healthy-history.ts";
import { readHolder } from "../fleet/holder-identity.ts";
import { type MissingPods, missingPods, missingText, whenMissingFrees } from "../fleet/missing-pods.ts";
import type { MemberState } from "../fleet/watched-member.ts";
import { culpritKeys } from "./culprit-lines.ts";
import { distinctNames, nameColumn } from "./distinct-names.ts";
import type { FrameOptions } from "./frame-options.ts";
import { historyLines } from "./history-lines.ts";
import { padded, piece, type StyledLine } from "./styled-line.ts";
import { sinceText, stateText } from "./user-text.ts";

type DetailsOptions = Pick<FrameOptions, "columns" | "glyphs" | "now"> & {
	/** Undefined unless the agents of every member keep a history. */
	readonly history?: HealthyHistory | undefined;
	/** The selected index in `usedBy`. */
	readonly culprit?: number | undefined;
};

export function budgetDetails(
	row: BudgetRow,
	members: readonly MemberState[],
	options: DetailsOptions,
): readonly StyledLine[] {
	const { problem, suspended } = row;
	const { cluster, clusters } = clusterColumn(
		members.map(({ name }) => name),
		options,
	);
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
							`suspended: ${suspension ? suspensionNow(suspension, options.now) : "no record of who suspended it"}`,
							"warn" as const,
						),
					],
				]
			: []),
		...(differ === undefined ? [] : [[piece(differ, "warn" as const)]]),
		[
			piece(
				`${padded("CLUSTER", cluster)}${padded("HEALTHY", 9)}${padded("EXPECTED", 10)}${padded("BOUND", 20)}AGENT`,
				"heading",
			),
		],
		...members.map((member) => memberLine(row, member, { cluster, name: clusters.get(member.name) ?? member.name })),
		...(options.history ? historyLines(options.history, row, options) : []),
		...usersLines(row, options),
	];
}

function sumText({ healthy, need, expected, suspended }: BudgetRow): string {
	if (suspended || need === undefined) return "";
	return `: ${healthy ?? "?"} healthy of ${expected ?? "?"}, ${need} must stay so`;
}

/** The column is as wide as the names need, while four more columns have room. */
function clusterColumn(names: readonly string[], { columns }: Pick<DetailsOptions, "columns">) {
	const cluster = nameColumn(names, { least: 14, most: columns - 47 });
	return { cluster, clusters: distinctNames(names, cluster - 1) };
}

function memberLine(
	row: BudgetRow,
	{ name, problem, isPolled }: MemberState,
	shown: { readonly cluster: number; readonly name: string },
): StyledLine {
	const counts = row.perCluster.get(name);
	const member = row.members.find(({ cluster }) => cluster === name);
	const bound = member ? `${member.bound ?? "?"}${member.suspended ? ", off" : ""}` : "-";
	return [
		piece(padded(shown.name, shown.cluster)),
		piece(padded(String(counts?.healthy ?? "?"), 9)),
		piece(padded(String(counts?.expected ?? "?"), 10)),
		piece(padded(bound, 20)),
		problem === undefined
			? piece(isPolled ? "older: is asked" : "live", isPolled ? "warn" : "good")
			: piece(problem, "bad"),
	];
}

/** The agents report at most 20 pods per member. */
function usersLines(row: BudgetRow, options: DetailsOptions): readonly StyledLine[] {
	const { usedBy, need, expected } = row;
	const missing = missingPods(row);
	if (usedBy.length === 0 && missing.length === 0) return [];
	const most = need === undefined || expected === undefined ? "" : ` of ${Math.max(0, expected - need)} allowed`;
	const clusterNames = [...usedBy, ...missing].map((each) => each.cluster);
	const cluster = nameColumn(clusterNames, { least: 14, most: Math.floor(options.columns / 3) });
	const podNames = usedBy.map(({ name }) => name);
	const pod = nameColumn(podNames, { least: 26, most: options.columns - cluster - 12 });
	const widths = {
		cluster,
		clusters: distinctNames(clusterNames, cluster - 1),
		pod,
		pods: distinctNames(podNames, pod - 1),
	};
	return [
		[],
		[piece(`NOT HEALTHY: each uses 1${most}${usedBy.length > 0 ? ` (${culpritKeys})` : ""}`, "bold")],
		...usedBy.flatMap((each, at) => userLines(each, { ...widths, isSelected: at === options.culprit }, options)),
		...missing.flatMap((each) => missingLines(each, widths)),
	];
}

interface UserWidths {
	readonly cluster: number;
	readonly clusters: ReadonlyMap<string, string>;
	readonly pod: number;
	readonly pods: ReadonlyMap<string, string>;
	readonly isSelected?: boolean;
}

function missingLines(missing: MissingPods, { cluster, clusters }: UserWidths): readonly StyledLine[] {
	return [
		[piece(padded(clusters.get(missing.cluster) ?? missing.cluster, cluster)), piece(missingText(missing), "warn")],
		[piece(`${" ".repeat(cluster)}${whenMissingFrees(missing)}`, "dim")],
	];
}

function userLines(pod: PodOfBudget, widths: UserWidths, { now }: DetailsOptions): readonly StyledLine[] {
	const { person, operation } =
		pod.holder === undefined ? { person: undefined, operation: undefined } : readHolder(pod.holder);
	const who = [operation, person && `by ${person}`, pod.account && `as ${pod.account}`].filter(Boolean).join(" ");
	return [
		[
			...(widths.isSelected ? [piece("> ", "bold")] : []),
			piece(padded(widths.clusters.get(pod.cluster) ?? pod.cluster, widths.cluster)),
			piece(padded(widths.pods.get(pod.name) ?? pod.name, widths.pod)),
			piece(`${stateText(pod)} ${sinceText(pod, now)}`.trimEnd(), "warn"),
		],
		// The second line names the holder, and wraps.
		[piece(`${" ".repeat(widths.cluster)}${who === "" ? "" : `${who}; `}${whenItFrees(pod)}`, "dim")],
	];
}

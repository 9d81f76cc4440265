// Makes the rows of the waiting pods: what each waits for, and its place in line.
import { formatElapsed } from "../flags/duration.ts";
import { distinctNames, nameColumn } from "./distinct-names.ts";
import type { FrameOptions } from "./frame-options.ts";
import { type SelectableRow, windowed } from "./lane-rows.ts";
import type { PodFacts, RunFacts } from "./run-facts.ts";
import { padded, piece } from "./styled-line.ts";
import { needsAll, shortReason, silenceText } from "./user-text.ts";

type RowOptions = Pick<FrameOptions, "columns" | "glyphs" | "now"> & { readonly selected: string | undefined };

/** Extracts the numbers, because all the words do not fit. */
const exhausted = /has no disruption left: (\d+)(?: of \d+)? healthy, (\d+) required/;

export function waitingRows(facts: RunFacts, height: number, options: RowOptions): readonly SelectableRow[] {
	const widths = widthsFor(facts, options.columns);
	const { waiting, contexts } = facts;
	const names = distinctNames(
		waiting.map((pod) => nameOf(pod, options.columns)),
		widths.name - 1,
	);
	const places = distinctNames(contexts, widths.context - 1);
	const rows = waiting.map((pod) => {
		const name = nameOf(pod, options.columns);
		return row(facts, pod, {
			...options,
			widths,
			name: names.get(name) ?? name,
			place: places.get(pod.context) ?? pod.context,
		});
	});
	const silent = facts.silentContexts;
	if (rows.length === 0 && silent.length > 0) {
		return [{ key: "", line: [piece(`  all that is left waits: ${silenceText(silent)}`, "bad")] }];
	}
	if (rows.length === 0) return [{ key: "", line: [piece("  none", "dim")] }];
	return windowed(rows, height, options.selected);
}

interface PodRowOptions extends RowOptions {
	readonly widths: ReturnType<typeof widthsFor>;
	readonly name: string;
	readonly place: string;
}

function nameOf({ namespace, name }: PodFacts, columns: number): string {
	return columns < 80 ? name : `${namespace}/${name}`;
}

function row(facts: RunFacts, pod: PodFacts, options: PodRowOptions): SelectableRow {
	const { columns, glyphs, now, selected, widths } = options;
	const isSelected = pod.key === selected;
	const place = facts.placeOf(pod);
	const place2 = place === 0 ? "" : `${ordinal(place)} for ${pod.wait?.budget}: `;
	const since = pod.wait ? formatElapsed(now - pod.wait.since) : "";
	const silent = pod.wait?.budget === undefined ? [] : facts.silentContexts;
	// While members do not answer, the budget's counts are unknown.
	const reason = silent.length > 0 ? silenceText(silent) : reasonOf(facts, pod);
	return {
		key: pod.key,
		line: [
			piece(isSelected ? "> " : "  ", isSelected ? "bold" : "plain"),
			piece(`${glyphs.waiting} `, "warn"),
			...(widths.context > 0 ? [piece(padded(options.place, widths.context))] : []),
			piece(padded(options.name, widths.name), isSelected ? "bold" : "plain"),
			piece(padded(since, 7), "dim"),
			piece(
				`${place2}${reason.replace(exhausted, columns < 100 ? "$1/$2 needed" : "$1 healthy, $2 required")}`,
				"warn",
			),
		],
	};
}

function reasonOf({ budgets }: RunFacts, pod: PodFacts): string {
	const { wait } = pod;
	const budget = wait?.budget === undefined ? undefined : budgets.find(wait.budget);
	const isFutile = wait?.reason === "BudgetExhausted" && budget && needsAll(budget);
	return isFutile ? `needs all ${budget.need}, lets none go` : shortReason(pod);
}

export function ordinal(place: number): string {
	const suffix = place % 100 >= 11 && place % 100 <= 13 ? "th" : (["th", "st", "nd", "rd"][place % 10] ?? "th");
	return `${place}${suffix}`;
}

/** The reason is shortened first, and names last. Widths cover all pods that ever waited, so that columns keep their place. */
function widthsFor({ contexts, pods }: RunFacts, columns: number) {
	const context = contexts.length > 1 ? nameColumn(contexts, { least: 4, most: Math.floor(columns / 4) }) : 0;
	const least = columns < 80 ? 16 : columns < 140 ? 26 : 40;
	const most = columns - context - 4 - 7 - 14;
	return {
		context,
		name: nameColumn(
			[...pods.values()].flatMap((pod) => (pod.wait ? nameOf(pod, columns) : [])),
			{ least, most },
		),
	};
}

// Who waits for what, and in which place.
import { formatElapsed } from "../flags/duration.ts";
import type { FrameOptions } from "./frame-options.ts";
import { type SelectableRow, windowed } from "./lane-rows.ts";
import type { PodFacts, RunFacts } from "./run-facts.ts";
import { padded, paddedName, piece } from "./styled-line.ts";
import { needsAll, shortReason, silenceText } from "./user-text.ts";

type RowOptions = Pick<FrameOptions, "columns" | "glyphs" | "now"> & { readonly selected: string | undefined };

/** The numbers, where there is no room for the words. */
const needs = /needs (\d+) healthy, has (\d+)/;

export function waitingRows(facts: RunFacts, height: number, options: RowOptions): readonly SelectableRow[] {
	const rows = facts.waiting.map((pod) => row(facts, pod, options));
	const silent = facts.silentContexts;
	if (rows.length === 0 && silent.length > 0) {
		return [{ key: "", line: [piece(`  all that is left waits: ${silenceText(silent)}`, "bad")] }];
	}
	if (rows.length === 0) return [{ key: "", line: [piece("  nobody", "dim")] }];
	return windowed(rows, height, options.selected);
}

function row(facts: RunFacts, pod: PodFacts, { columns, glyphs, now, selected }: RowOptions): SelectableRow {
	const isSelected = pod.key === selected;
	const { context, name } = widthsFor(facts, columns);
	const place = facts.placeOf(pod);
	const place2 = place === 0 ? "" : `${ordinal(place)} for ${pod.wait?.budget}: `;
	const since = pod.wait ? formatElapsed(now - pod.wait.since) : "";
	const silent = pod.wait?.budget === undefined ? [] : facts.silentContexts;
	// What the budget had is what nobody knows until they answer.
	const reason = silent.length > 0 ? silenceText(silent) : reasonOf(facts, pod);
	return {
		key: pod.key,
		line: [
			piece(isSelected ? "> " : "  ", isSelected ? "bold" : "plain"),
			piece(`${glyphs.waiting} `, "warn"),
			...(context > 0 ? [piece(`${paddedName(pod.context, context - 1)} `)] : []),
			piece(
				`${paddedName(columns < 80 ? pod.name : `${pod.namespace}/${pod.name}`, name - 1)} `,
				isSelected ? "bold" : "plain",
			),
			piece(padded(since, 7), "dim"),
			piece(`${place2}${columns < 100 ? reason.replace(needs, "has $2 of $1") : reason}`, "warn"),
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

function widthsFor({ contexts }: RunFacts, columns: number) {
	const context =
		contexts.length > 1 ? Math.min(columns < 100 ? 10 : 16, Math.max(...contexts.map((each) => each.length)) + 1) : 0;
	return { context, name: columns < 80 ? 16 : columns < 140 ? 26 : 40 };
}

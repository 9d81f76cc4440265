// Formats the results as a table of plain text.
import { isMet, type Ratio } from "./ratios.ts";
import type { Spread } from "./statistics.ts";

export type Outcome =
	| { readonly kind: "measured"; readonly ratio: Ratio; readonly spread: Spread }
	| { readonly kind: "missing"; readonly ratio: Ratio; readonly reason: string };

const barWidth = 12;
/** The bar ends at this multiple of the goal. */
const barEnd = 1.5;

export function formatTable(outcomes: readonly Outcome[]): string {
	const rows = outcomes.map((outcome) => {
		const { name, goal, what } = outcome.ratio;
		const wanted = goal ? `${goal.better === "lower" ? "<=" : ">="} ${goal.value}` : "-";
		if (outcome.kind === "missing") return [name, "-", wanted, "", "missing", what];
		const { median, low, high } = outcome.spread;
		const met = isMet(outcome.ratio, median);
		return [
			name,
			`${round(median)} (${round(low)} to ${round(high)})`,
			wanted,
			goal ? bar(median / goal.value) : "",
			met === undefined ? "reported" : met ? "met" : "missed",
			what,
		];
	});
	const lines = [["ratio", "median (range)", "goal", "", "", "what is compared"], ...rows];
	const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
	const reasons = outcomes.flatMap((outcome) =>
		outcome.kind === "missing" ? [`missing: ${outcome.ratio.name}: ${outcome.reason}`] : [],
	);
	return [
		...lines.map((line) =>
			line
				.map((cell, column) => cell.padEnd(widths[column] ?? 0))
				.join(" ")
				.trimEnd(),
		),
		...reasons,
	].join("\n");
}

/** Draws `part`, the value divided by the goal. "|" marks the goal. */
function bar(part: number): string {
	const filled = Math.min(barWidth, Math.round((part / barEnd) * barWidth));
	const at = Math.round(barWidth / barEnd);
	return Array.from({ length: barWidth + 1 }, (_, index) => {
		if (index === at) return "|";
		return (index < at ? index : index - 1) < filled ? "#" : ".";
	}).join("");
}

export function round(value: number): string {
	if (value === 0) return "0";
	const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
	return value.toFixed(Math.min(digits, 3));
}

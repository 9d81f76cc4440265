// Draws a budget's last hour, or as much of it as fits, in two lines. The first has a glyph for each sample, by its height above the
// current need. The second is a summary.
import type { BudgetRow } from "../fleet/budget-table.ts";
import type { HealthyHistory } from "../fleet/healthy-history.ts";
import type { FrameOptions } from "./frame-options.ts";
import { padded, piece, type StyledLine, type Tone } from "./styled-line.ts";
import { timeOfDay } from "./time-text.ts";

type HistoryOptions = Pick<FrameOptions, "columns" | "glyphs" | "now">;
type Bounds = Pick<BudgetRow, "need" | "expected">;

const labelWidth = 14;
/** Clocks differ and reports take time, so a history is late only after this many steps. */
const lateSteps = 3;

export function historyLines(
	{ healthy, lastAt, everySeconds }: HealthyHistory,
	bounds: Bounds,
	{ columns, glyphs, now }: HistoryOptions,
): readonly StyledLine[] {
	const shown = healthy.slice(-Math.max(1, columns - labelWidth - 2));
	const known = shown.filter((pods) => pods !== undefined);
	if (known.length === 0) return [];
	const { need } = bounds;
	const [lowest, highest] = [Math.min(...known), Math.max(...known)];
	const floor = need ?? 0;
	const range = Math.max(highest, bounds.expected ?? 0) - floor;
	const level = (pods: number): string => {
		const top = glyphs.levels.length - 1;
		return glyphs.levels[range <= 0 ? 0 : Math.floor(((pods - floor) / range) * top)] ?? "";
	};
	const signs = shown.map((pods) => {
		if (pods === undefined) return piece("?", "dim");
		if (need === undefined) return piece(level(pods));
		return pods < need ? piece("!", "bad") : piece(level(pods), pods === need ? "warn" : "good");
	});
	const at = (index: number): string =>
		timeOfDay((lastAt - (shown.length - 1 - index) * everySeconds) * 1_000).slice(0, 5);
	const under = shown.findLastIndex((pods) => pods !== undefined && need !== undefined && pods < need);
	const isLate = now / 1_000 - lastAt > lateSteps * everySeconds;
	const words = [
		`${lowest === highest ? "" : `${lowest} to `}${highest} healthy`,
		under < 0 ? "" : `! under ${need} needed now, last ${at(under)}`,
		known.length < shown.length ? "? unknown" : "",
		isLate ? `nothing known since ${at(shown.length - 1)}` : "",
	];
	return [
		[piece(padded(`LAST ${Math.ceil((shown.length * everySeconds) / 60)} MIN`, labelWidth), "dim"), ...joined(signs)],
		[piece(`${" ".repeat(labelWidth)}${words.filter(Boolean).join("; ")}`, "dim")],
	];
}

function joined(signs: StyledLine): StyledLine {
	const pieces: { text: string; tone: Tone }[] = [];
	for (const { text, tone } of signs) {
		const last = pieces.at(-1);
		if (last?.tone === tone) last.text += text;
		else pieces.push({ text, tone });
	}
	return pieces;
}

// Draws a budget over time: its healthy pods as a solid line, what it needs as a dashed one, and the expected pods as a dotted one. Each
// eviction has a mark.
import { formatElapsed } from "../flags/duration.ts";
import { counted } from "../terminal/counted.ts";
import type { BudgetCurve, BudgetPoint } from "./budget-curves.ts";
import { type Html, html, nothing } from "./html.ts";
import { axis } from "./pod-table.ts";
import { placeOf, type TimeRange } from "./time-axis.ts";

const height = 100;

export function budgetFigure(curve: BudgetCurve, range: TimeRange): Html {
	const { budget, points, to, evictions } = curve;
	const top = Math.max(1, ...points.flatMap(({ healthy = 0, need = 0, expected = 0 }) => [healthy, need, expected]));
	const y = (pods: number): number => Math.round(height - (pods / top) * (height - 10));
	const line = (name: string, value: (point: BudgetPoint) => number | undefined): Html =>
		html`<path class="${name}" d="${stepPath(points, to, { range, y, value })}"/>`;
	return html`<figure><figcaption><b>${budget}</b> ${figureText(curve)}</figcaption>
<div class="curve"><span class="top">${top}</span><svg viewBox="0 0 1000 ${height}" preserveAspectRatio="none" role="img" aria-label="${budget}: ${figureText(curve)}">
${line("expected", ({ expected }) => expected)}${line("need", ({ need }) => need)}${line("healthy", ({ healthy }) => healthy)}
${evictions.length === 0 ? nothing : html`<path class="mark" d="${evictions.map((at) => `M${placeOf(at, range)} ${height}v-6`).join("\n")}"/>`}</svg>
<span class="bottom">0</span>${axis(range)}</div></figure>
`;
}

/** Sums up the curve in words, for the caption and for screen readers. */
export function figureText(curve: BudgetCurve): string {
	const { points, evictions } = curve;
	const rooms = points.flatMap(({ healthy, need }) =>
		need === undefined || healthy === undefined ? [] : [healthy - need],
	);
	const blindMs = timeWhere(curve, ({ healthy }) => healthy === undefined);
	const blind = blindMs > 0 ? `; no data for ${formatElapsed(blindMs)}` : "";
	const sent = `${counted(evictions.length, "eviction")}${blind}`;
	if (rooms.length === 0) return `suspended, or its pods were not known; ${sent}`;
	const least = Math.min(...rooms);
	const lowest = Math.min(...points.flatMap(({ healthy }) => healthy ?? []));
	const full = formatElapsed(
		timeWhere(curve, ({ healthy, need }) => healthy !== undefined && need !== undefined && healthy <= need),
	);
	const room =
		least < 0
			? `${-least} below its need at the lowest`
			: least === 0
				? `used up for ${full}, never below`
				: `at least ${least} left`;
	return `${room}; at least ${lowest} healthy; ${sent}`;
}

function timeWhere({ points, to }: BudgetCurve, holds: (point: BudgetPoint) => boolean): number {
	return points.reduce((sum, point, index) => sum + (holds(point) ? (points[index + 1]?.at ?? to) - point.at : 0), 0);
}

interface Scale {
	readonly range: TimeRange;
	readonly y: (pods: number) => number;
	readonly value: (point: BudgetPoint) => number | undefined;
}

/** Draws steps: a count holds until the next one. Unknown numbers leave a gap. */
function stepPath(points: readonly BudgetPoint[], to: number, { range, y, value }: Scale): string {
	let path = "";
	let isOpen = false;
	for (const [index, point] of points.entries()) {
		const pods = value(point);
		if (pods === undefined) {
			isOpen = false;
			continue;
		}
		path += isOpen ? `\nV${y(pods)}` : `M${placeOf(point.at, range)} ${y(pods)}`;
		path += `H${placeOf(points[index + 1]?.at ?? to, range)}`;
		isOpen = true;
	}
	return path;
}

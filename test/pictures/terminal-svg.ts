// Draws terminal screens as one SVG: a still, or all frames of a session in turn. A row that stays is drawn once.
import type { ScreenRow, ScreenRun } from "./screen-rows.ts";

/** `at` is in milliseconds since the first frame. */
export interface Frame {
	readonly at: number;
	readonly rows: readonly ScreenRow[];
}

export interface PictureSize {
	readonly columns: number;
	readonly rows: number;
	/** What the picture shows, for readers who cannot see it. */
	readonly title: string;
}

const cell = { width: 8.4, height: 18 } as const;
const margin = 12;
/** Longer pauses are shortened for readers. */
const longestPauseMs = 1_200;
const lastMs = 4_000;

/** Colours for the picture's own dark background. */
const style = `text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#d7dae0;white-space:pre}
.red{fill:#ff7b72}.green{fill:#7ee787}.yellow{fill:#e3b341}.cyan{fill:#79c0ff}.dim{fill:#8b949e}.bold{font-weight:700}`;

export function stillPicture(rows: readonly ScreenRow[], size: PictureSize): string {
	return svg(size, "", rows.map((row, index) => rowMarkup(row, index)).join("\n"));
}

export function movingPicture(frames: readonly Frame[], size: PictureSize): string {
	const times = shownAt(frames);
	const total = (times.at(-1) ?? 0) + lastMs;
	const spans = new Map<string, { readonly from: number; readonly to: number }>();
	const drawn: string[] = [];
	for (let index = 0; index < size.rows; index += 1) {
		const versions = frames.map(({ rows }) => rowMarkup(rows[index] ?? [], index));
		let from = 0;
		for (const [at, markup] of versions.entries()) {
			if (versions[at + 1] === markup) continue;
			const to = at + 1 < frames.length ? (times[at + 1] ?? total) : total;
			const begin = times[from] ?? 0;
			if (markup !== "") drawn.push(`<g${classFor(spans, { from: begin, to }, total)}>${markup}</g>`);
			from = at + 1;
		}
	}
	const rules = [...spans].map(([name, { from, to }]) => {
		const share = (ms: number): string => `${((ms / total) * 100).toFixed(2)}%`;
		const begin = from === 0 ? "" : "0%{visibility:hidden}";
		const end = to === total ? "" : `${share(to)}{visibility:hidden}`;
		return `.${name}{animation:${name} ${total}ms step-end infinite}@keyframes ${name}{${begin}${share(from)}{visibility:visible}${end}}`;
	});
	// Readers who want no motion see the last frame.
	const calm = [...spans].filter(([, { to }]) => to !== total).map(([name]) => `.${name}`);
	const still = `@media(prefers-reduced-motion:reduce){g{animation:none!important}${calm.join(",")}{visibility:hidden}}`;
	return svg(size, `${rules.join("\n")}\n${still}`, drawn.join("\n"));
}

/** Returns when each frame is shown, with shortened pauses. */
function shownAt(frames: readonly Frame[]): readonly number[] {
	let shown = 0;
	return frames.map(({ at }, index) => {
		shown += Math.min(longestPauseMs, at - (frames[index - 1]?.at ?? at));
		return Math.round(shown);
	});
}

function classFor(
	spans: Map<string, { from: number; to: number }>,
	span: { from: number; to: number },
	total: number,
): string {
	if (span.from === 0 && span.to === total) return "";
	const name = `f${span.from}t${span.to}`;
	spans.set(name, span);
	return ` class="${name}"`;
}

function svg({ columns, rows, title }: PictureSize, more: string, content: string): string {
	const width = Math.ceil(columns * cell.width) + 2 * margin;
	const height = rows * cell.height + 2 * margin;
	return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>${escaped(title)}</title>
<style>${style}
${more}</style>
<rect width="${width}" height="${height}" rx="8" fill="#0d1117"/>
${content}
</svg>
`;
}

function rowMarkup(row: ScreenRow, index: number): string {
	if (row.length === 0) return "";
	return `<text y="${margin + (index + 1) * cell.height - 5}">${row.map(runMarkup).join("")}</text>`;
}

/** Fixes the place and length of each run, whatever the width of the font. */
function runMarkup({ column, width, text, looks }: ScreenRun): string {
	const place = `x="${(margin + column * cell.width).toFixed(1)}" textLength="${(width * cell.width).toFixed(1)}"`;
	return `<tspan ${place} lengthAdjust="spacingAndGlyphs"${looks === "" ? "" : ` class="${looks}"`}>${escaped(text)}</tspan>`;
}

function escaped(text: string): string {
	return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

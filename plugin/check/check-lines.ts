// Prints the checks for people: a row for each, with a column for each cluster. Below it come the findings and the commands that help.
import { shortenTo } from "../../disruption/quote.ts";
import { wrappedLines } from "../output/table.ts";
import { counted } from "../terminal/counted.ts";
import { type CheckResult, factsOf } from "./check-reason.ts";
import type { CheckFinding, CheckOutcome, CheckRow } from "./check-report.ts";

export interface CheckLinesOptions {
	/** Undefined for a pipe: lines are not wrapped or fitted to a width. */
	readonly columns: number | undefined;
	readonly hasUnicode: boolean;
	/** Print only rows that are not ok. */
	readonly short: boolean;
}

const unicodeMarks: Readonly<Record<CheckResult, string>> = { ok: "✔", warning: "!", unknown: "?", failed: "✖" };
const asciiMarks: Readonly<Record<CheckResult, string>> = { ok: "ok", warning: "!", unknown: "?", failed: "x" };

/** Fits every title. */
const titleWidth = 34;
const codeWidth = 8;
const narrowestCell = 8;
const widestCell = 16;
/** Further findings of a row are only counted. -o json has them all. */
const mostFindings = 5;

/** Writes rows one by one, with a heading whenever the category or the clusters change. */
export class CheckLines {
	readonly #options: CheckLinesOptions;
	#heading = "";
	readonly #told = new Set<string>();
	/** Commands that were printed already. A command that creates something fails if a user runs it twice. */
	readonly #fixes = new Set<string>();

	constructor(options: CheckLinesOptions) {
		this.#options = options;
	}

	row(row: CheckRow): readonly string[] {
		const { short, hasUnicode } = this.#options;
		if (short && row.result === "ok") return [];
		const marks = hasUnicode ? unicodeMarks : asciiMarks;
		const mark = marks[row.result].padEnd(hasUnicode ? 1 : 2);
		const widths = this.#cellWidths(row);
		const heading = this.#headingOf(row, widths, mark.length);
		const [worst] = row.findings.filter(({ result }) => result === row.result);
		const code = worst ? factsOf(worst.reason).code : "";
		const cells = row.cells.map(({ text }, index) =>
			cut(text, widths?.[index] ?? text.length).padEnd(widths?.[index] ?? 0),
		);
		const line = widths
			? [`${mark} ${row.title.padEnd(titleWidth)}`, ...cells, code].join("  ")
			: `${mark} ${row.title.padEnd(titleWidth)}  ${code}`;
		const groups = widths ? [] : groupedCells(row);
		return [...heading, line.trimEnd(), ...groups, ...this.#findings(row)];
	}

	summary({ counts, blocking, exitCode }: CheckOutcome, tookMs: number): readonly string[] {
		const total = counts.ok + counts.warning + counts.unknown + counts.failed;
		const parts = [
			`${counts.ok} ok`,
			...(counts.warning > 0 ? [counted(counts.warning, "warning")] : []),
			...(counts.unknown > 0 ? [`${counts.unknown} unknown`] : []),
			...(counts.failed > 0 ? [`${counts.failed} failed`] : []),
		];
		const verdict =
			blocking.length > 0
				? `  Put right first: ${blocking.join(", ")}.`
				: exitCode === 0
					? ""
					: "  Warnings count as failures (--fail-on=warn).";
		const text = `${total} checks: ${parts.join(", ")} (${(tookMs / 1_000).toFixed(1)} s).${verdict}`;
		return ["", ...wrappedLines(text, this.#options.columns)];
	}

	#headingOf(row: CheckRow, widths: readonly number[] | undefined, markWidth: number): readonly string[] {
		const names = row.cells.map(({ cluster }) => cluster);
		const heading = [row.category, ...names].join("\0");
		if (heading === this.#heading) return [];
		const isFirst = this.#heading === "";
		this.#heading = heading;
		const titles = widths
			? names.map((name, index) => cut(name, widths[index] ?? name.length).padEnd(widths[index] ?? 0))
			: [];
		const line = [row.category.padEnd(markWidth + 1 + titleWidth), ...titles].join("  ").trimEnd();
		return [...(isFirst ? [] : [""]), line];
	}

	/** Undefined if the columns do not fit. */
	#cellWidths({ cells }: CheckRow): readonly number[] | undefined {
		const { columns, hasUnicode } = this.#options;
		const widths = cells.map(({ cluster }) => Math.min(widestCell, Math.max(narrowestCell, cluster.length)));
		const taken = (hasUnicode ? 2 : 3) + titleWidth + 2 + codeWidth;
		const sum = widths.reduce((total, width) => total + width + 2, taken);
		if (columns === undefined || sum <= columns) return widths;
		const room = Math.floor((columns - taken) / Math.max(1, cells.length)) - 2;
		return room < narrowestCell ? undefined : cells.map(() => room);
	}

	#findings({ findings }: CheckRow): readonly string[] {
		const fresh = findings.filter((finding) => !this.#isTold(finding));
		const groups = [...Map.groupBy(fresh, ({ reason, message }) => `${reason}\0${message}`).values()];
		const shown = groups.slice(0, mostFindings);
		const more = groups.length - shown.length;
		return [
			...shown.flatMap((group) => {
				const clusters = group.map(({ cluster }) => cluster).filter((cluster) => cluster !== "");
				const place = clusters.length === 0 ? "" : `${clusters.join(", ")}: `;
				const text = `    ${place}${shortenTo(group[0]?.message ?? "", longestMessage)}`;
				const [fix] = group.flatMap((each) => each.fix ?? []);
				// A wrapped command could not be copied.
				return [
					...wrappedLines(text, this.#options.columns, "      "),
					...(fix === undefined ? [] : [`    fix:  ${this.#fixText(fix)}`]),
				];
			}),
			...(more > 0 ? [`    and ${more} more: -o json has all of them`] : []),
		];
	}

	#fixText(fix: string): string {
		if (this.#fixes.has(fix)) return "the same command as above";
		this.#fixes.add(fix);
		return fix;
	}

	/** An unreachable cluster makes every check unknown for the same reason, which is printed once. */
	#isTold({ result, cluster, message }: CheckFinding): boolean {
		if (result !== "unknown") return false;
		const key = `${cluster}\0${message}`;
		const isTold = this.#told.has(key);
		this.#told.add(key);
		return isTold;
	}
}

const longestMessage = 2_000;

/** Returns a line such as "yes: eu, us" for each distinct text. */
function groupedCells({ cells }: CheckRow): readonly string[] {
	return [...Map.groupBy(cells, ({ text }) => text)].map(
		([text, those]) => `    ${text}: ${those.map(({ cluster }) => cluster).join(", ")}`,
	);
}

/** Cuts out the middle, because the end of a name identifies it more often. */
function cut(text: string, width: number): string {
	if (text.length <= width) return text;
	const front = Math.ceil((width - 2) / 2);
	return `${text.slice(0, front)}..${text.slice(text.length - (width - 2 - front))}`;
}

// Draws a frame of the screen of a run. It fits the terminal and leaves its last row empty. Heights depend only on the terminal and on
// numbers that never shrink, so that rows do not jump.
import { counted } from "../terminal/counted.ts";
import { smallestScreen } from "../terminal/screen-terminal.ts";
import { budgetRows, budgetsHeader } from "./budget-rows.ts";
import { contextText } from "./context-text.ts";
import { paneLines } from "./details-lines.ts";
import { distinctNames, nameColumn } from "./distinct-names.ts";
import { type FooterKey, footerLine } from "./footer-line.ts";
import type { FrameOptions } from "./frame-options.ts";
import { barText, laneKeys, laneRows, lanesHeader, type SelectableRow } from "./lane-rows.ts";
import type { LogEntry } from "./log-entry.ts";
import type { RunFacts } from "./run-facts.ts";
import { fitLine, padded, piece, type StyledLine, spread, type Tone, widthOf } from "./styled-line.ts";
import { clockText, remainingText, timeOfDay } from "./time-text.ts";
import type { Pane, ViewState } from "./view-state.ts";
import { waitingRows } from "./waiting-rows.ts";
import { wrapLine } from "./wrap-line.ts";

export function selectableRows(facts: RunFacts): readonly string[] {
	return [...laneKeys(facts), ...facts.budgets.all.map(({ key }) => key), ...facts.waiting.map(({ key }) => key)];
}

export function drainFrame(facts: RunFacts, view: ViewState, options: FrameOptions): readonly StyledLine[] {
	const { columns, rows } = options;
	const height = rows - 1;
	if (columns < smallestScreen.columns || rows < smallestScreen.rows) {
		const small = [
			titleLine(facts, options),
			totalsLine(facts, options),
			[piece(" q: plain lines, or a larger terminal")],
		];
		return small.slice(0, Math.max(0, height)).map((line) => fitLine(line, columns));
	}
	const top = [titleLine(facts, options), totalsLine(facts, options)];
	const keys = keysLine(facts, view, options);
	const body = height - top.length - 1;
	const middle = view.pane ? paneBody(view.pane, facts, view, options, body) : mainBody(facts, view, options, body);
	return [...top, ...middle.slice(0, body), keys].map((line) => fitLine(line, columns));
}

function mainBody(facts: RunFacts, view: ViewState, options: FrameOptions, body: number): readonly StyledLine[] {
	const { selected } = view;
	const withSelected = { ...options, selected };
	const hasRules = body >= 22;
	const rule = hasRules ? [ruleLine("", options)] : [];
	// The 3 lines are two headers and the title of the waiting pods. Rules need 3 more.
	const heights = divide(body - 3 - (hasRules ? 3 : 0), laneKeys(facts).length, Math.max(1, facts.budgets.all.length));
	const waits = facts.waiting.length;
	return [
		...rule,
		lanesHeader(facts, withSelected),
		...filled(laneRows(facts, heights.lanes, withSelected), heights.lanes),
		...rule,
		budgetsHeader(facts, withSelected),
		...filled(budgetRows(facts, heights.budgets, withSelected), heights.budgets),
		ruleLine(`WAITING ${waits}`, options),
		...filled(waitingRows(facts, heights.waits, withSelected), heights.waits),
		...(heights.events > 0
			? [ruleLine("EVENTS", options), ...filled(eventRows(facts, heights.events, options), heights.events)]
			: []),
		...rule,
	];
}

interface Heights {
	readonly lanes: number;
	readonly budgets: number;
	readonly waits: number;
	readonly events: number;
}

/** `lines`: for the rows of all sections, and the title of the events if they are shown. */
function divide(lines: number, lanes: number, budgets: number): Heights {
	const waits = lines >= 18 ? 4 : lines >= 11 ? 3 : 2;
	const fewestEvents = lines >= 18 ? 3 : lines >= 11 ? 2 : 0;
	const rest = lines - waits - fewestEvents - (fewestEvents > 0 ? 1 : 0);
	const someBudgets = Math.min(budgets, Math.max(2, Math.floor(rest * 0.35)));
	const lanesShown = Math.min(lanes, rest - someBudgets);
	const budgetsShown = Math.min(budgets, rest - lanesShown);
	const over = rest - lanesShown - budgetsShown;
	return {
		lanes: lanesShown,
		budgets: budgetsShown,
		waits: fewestEvents > 0 ? waits : waits + over,
		events: fewestEvents > 0 ? fewestEvents + over : 0,
	};
}

function filled(rows: readonly SelectableRow[] | readonly StyledLine[], height: number): readonly StyledLine[] {
	const lines = rows.slice(0, height).map((row) => ("line" in row ? row.line : row));
	return [...lines, ...Array.from({ length: Math.max(0, height - lines.length) }, () => [])];
}

function paneBody(
	pane: Pane,
	facts: RunFacts,
	view: ViewState,
	options: FrameOptions,
	body: number,
): readonly StyledLine[] {
	const titles: Readonly<Record<Pane, string>> = {
		details: "DETAILS",
		explain: "WHY",
		culprit: "WHO USES IT UP",
		object: "OBJECT",
		budgets: "BUDGETS",
		warnings: "WARNINGS",
		help: "HELP",
	};
	const indented = paneLines(pane, facts, view, options).flatMap((line) =>
		wrapLine([piece(" "), ...line], options.columns - 1),
	);
	const height = body - 1;
	const from = Math.max(0, Math.min(view.scroll, indented.length - height));
	const below = indented.length - height - from;
	const more = below > 0 ? `  ${counted(below, "more line")} below` : from > 0 ? "  end" : "";
	return [ruleLine(`${titles[pane]}${more}`, options), ...filled(indented.slice(from), height)];
}

function titleLine(facts: RunFacts, options: FrameOptions): StyledLine {
	const { columns, glyphs, now, command, op } = options;
	const remaining = facts.remaining(now);
	const { done, total } = facts.counts();
	const isKnown = remaining && (remaining[0] > 0 || remaining[1] !== null);
	const low = isKnown && done < Math.max(3, total * 0.1) && columns >= 100 ? " (low confidence)" : "";
	const says = remaining && (remaining[1] !== 0 || done >= total);
	const left = says ? `  ${remainingText(remaining, glyphs.dash)}${low}` : "";
	const state: StyledLine = facts.isStopping
		? [piece(" STOPPING ", "bad")]
		: facts.isPaused
			? [piece(" PAUSED ", "warn")]
			: [];
	const warnings = facts.warnings.length > 0 ? [piece(`  ${counted(facts.warnings.length, "warning")}`, "warn")] : [];
	const right = [...state, ...warnings, piece(`  ${clockText(now - (facts.startedAt ?? now))}${left} `)];
	const room = columns - widthOf(right.map(({ text }) => text).join("")) - 20;
	return spread(
		[piece(`${columns < 80 ? "" : " xpdb"} ${command} ${op}`, "bold"), piece(`  ${contextText(facts.contexts, room)}`)],
		right,
		columns,
	);
}

function totalsLine(facts: RunFacts, { columns, glyphs }: FrameOptions): StyledLine {
	const { done, total, terminating, waiting, failed } = facts.counts();
	const short = columns < 80;
	const width = Math.floor(columns * (short ? 0.2 : 0.3));
	const percent = total === 0 ? 0 : Math.floor((done / total) * 100);
	const queued = Math.max(0, total - done - terminating - waiting - failed);
	if (total === 0 && facts.plannedPods === undefined) {
		return spread([piece(` ${barText(0, 0, width, glyphs)}`, "accent"), piece(" reading the pods")], [], columns);
	}
	const count = (number: number, word: string, abbreviation: string, tone: Tone): StyledLine => [
		piece(`  ${number} ${short ? abbreviation : word}`, number > 0 ? tone : "dim"),
	];
	return spread(
		[
			piece(` ${barText(done, total, width, glyphs)}`, "accent"),
			piece(` ${percent}%  ${done}/${total}${short ? "" : " pods"}`),
		],
		[
			...count(terminating, "terminating", "term", "accent"),
			...count(waiting, "waiting", "wait", "warn"),
			...(failed > 0 ? count(failed, "failed", "fail", "bad") : []),
			...count(queued, "queued", "queued", "plain"),
			piece(" "),
		],
		columns,
	);
}

function ruleLine(title: string, { columns, glyphs }: FrameOptions): StyledLine {
	if (title === "") return [piece(glyphs.rule.repeat(columns), "dim")];
	const front = glyphs.rule.repeat(2);
	const text = ` ${title} `;
	return [
		piece(front, "dim"),
		piece(text, "bold"),
		piece(glyphs.rule.repeat(Math.max(0, columns - 2 - text.length)), "dim"),
	];
}

function eventRows(facts: RunFacts, height: number, options: FrameOptions): readonly StyledLine[] {
	return facts.log.slice(0, height).map((entry) => eventLine(facts, entry, options));
}

function eventLine(
	{ contexts }: RunFacts,
	{ at, context, text, level }: LogEntry,
	{ columns }: FrameOptions,
): StyledLine {
	const tones: Readonly<Record<LogEntry["level"], Tone>> = {
		info: "plain",
		good: "good",
		warning: "warn",
		error: "bad",
	};
	const width = contexts.length > 1 ? nameColumn(contexts, { least: 4, most: Math.floor(columns / 3) }) : 0;
	const place = width > 0 ? `${padded(distinctNames(contexts, width - 1).get(context) ?? context, width)} ` : "";
	const mark = level === "error" ? "error: " : level === "warning" ? "! " : "";
	return [piece(`  ${timeOfDay(at)}  `, "dim"), piece(place), piece(`${mark}${text}`, tones[level])];
}

function keysLine(facts: RunFacts, { pane }: ViewState, { columns }: FrameOptions): StyledLine {
	const keys: readonly FooterKey[] = [
		...(pane
			? [
					{ key: "esc", does: "back", short: "esc back" },
					{ key: "up/down", does: "scroll", short: "up/dn", least: "up/dn" },
				]
			: [
					{ key: "up/down", does: "select", short: "up/dn", least: "up/dn" },
					{ key: "enter", does: "details", short: "enter" },
				]),
		{ key: "e", does: "explain", short: "e why" },
		{ key: "y", does: "object", short: "y yaml" },
		{ key: "b", does: "budgets", short: "b all" },
		...(facts.warnings.length > 0 ? [{ key: "w", does: "warnings", short: "w warn" }] : []),
		facts.isPaused ? { key: "p", does: "go on", short: "p go" } : { key: "p", does: "pause", short: "p pause" },
		{ key: "q", does: "leave view", short: "q leave" },
		{
			key: "ctrl-c",
			does: facts.isStopping ? "exit now" : "stop",
			short: facts.isStopping ? "^C now" : "^C stop",
			least: "^C",
		},
		{ key: "?", does: "help", short: "? help", least: "? help" },
	];
	return footerLine(keys, columns, facts.isPaused ? "warn" : "dim");
}

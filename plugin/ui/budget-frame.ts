// Draws a frame of the budgets screen. It fits the terminal and leaves its last row empty.
import { formatBudgetName } from "../../disruption/budget/budget.ts";
import type { SuggestedCommands } from "../flags/suggested-commands.ts";
import type { BudgetRow } from "../fleet/budget-table.ts";
import { counted } from "../terminal/counted.ts";
import { smallestScreen } from "../terminal/screen-terminal.ts";
import { type BudgetBoard, hasNoPods } from "./budget-board.ts";
import { budgetDetails } from "./budget-details.ts";
import type { BudgetView } from "./budget-view.ts";
import { culpritLines } from "./culprit-lines.ts";
import { distinctNames } from "./distinct-names.ts";
import { type FooterKey, footerLine } from "./footer-line.ts";
import type { FrameOptions } from "./frame-options.ts";
import { objectLines } from "./shown-object.ts";
import { fitLine, lineText, padded, piece, type StyledLine, spread, widthOf } from "./styled-line.ts";
import { timeOfDay } from "./time-text.ts";
import { needsAllText, podUserText, silenceText } from "./user-text.ts";
import { wrapLine } from "./wrap-line.ts";

export interface BudgetFrameOptions extends Pick<FrameOptions, "columns" | "rows" | "glyphs" | "now"> {
	/** Shown until the members are known. */
	readonly contexts: readonly string[];
	readonly namespaces: WatchedNamespaces;
	readonly suggest: SuggestedCommands;
	readonly contextOf: (cluster: string) => string | undefined;
}

export type WatchedNamespaces = "all" | "own" | { readonly only: string };

export function budgetFrame(board: BudgetBoard, view: BudgetView, options: BudgetFrameOptions): readonly StyledLine[] {
	const { columns, rows } = options;
	const height = Math.max(0, rows - 1);
	if (columns < smallestScreen.columns || rows < smallestScreen.rows) {
		const small = [titleLine(board, view, options), [piece(" q: leave, or a larger terminal")]];
		return small.slice(0, height).map((line) => fitLine(line, columns));
	}
	const keys = board.shown(view, options.now);
	const body = height - 2;
	const lines =
		view.pane === "help"
			? [ruleLine("HELP", options), ...helpFor(options).slice(view.scroll, view.scroll + body - 1)]
			: bodyLines(board, view, keys, body, options);
	const whole = [...lines.slice(0, body), ...Array.from({ length: Math.max(0, body - lines.length) }, () => [])];
	const all = [titleLine(board, view, options), ...whole, keysLine(view, options)];
	// An empty row must have no pieces.
	return all.map((line) => (lineText(line) === "" ? [] : fitLine(line, columns)));
}

function bodyLines(
	board: BudgetBoard,
	view: BudgetView,
	keys: readonly string[],
	body: number,
	options: BudgetFrameOptions,
): readonly StyledLine[] {
	const open = view.pane && view.selected !== undefined ? board.find(view.selected) : undefined;
	// The table needs room for its header and the note below.
	const table = open ? Math.min(Math.max(5, Math.floor(body * 0.4)), Math.max(1, keys.length)) : body - 2;
	const above = [
		headerLine(board, options),
		...tableRows(board, view, keys, table, options),
		noteLine(board, { keys, height: table }, view, options),
	];
	if (!open) return above;
	const details = paneLines(open, board, view, options).flatMap((line) =>
		wrapLine([piece(" "), ...line], options.columns - 1),
	);
	const height = body - above.length - 1;
	const from = Math.max(0, Math.min(view.scroll, details.length - height));
	const below = details.length - height - from;
	const more = below > 0 ? `  ${counted(below, "more line")} below (space)` : "";
	const titles = { explain: "EXPLAIN ", culprit: "WHO USES UP ", object: "OBJECT ", details: "", help: "" } as const;
	const what = titles[view.pane ?? "details"];
	return [...above, ruleLine(`${what}${formatBudgetName(open)}${more}`, options), ...details.slice(from)];
}

function paneLines(
	row: BudgetRow,
	board: BudgetBoard,
	view: BudgetView,
	options: BudgetFrameOptions,
): readonly StyledLine[] {
	const key = formatBudgetName(row);
	if (view.pane === "object") return objectLines(board.object);
	if (view.pane === "culprit") {
		const used = view.culprit === undefined ? undefined : row.usedBy[view.culprit];
		if (!used) return [[piece("It does not use the budget up any more.", "good")]];
		const { now, suggest, contextOf } = options;
		return culpritLines({ ...used, pod: used.name }, { now, suggest, budget: key, context: contextOf(used.cluster) });
	}
	if (view.pane !== "explain") {
		const { culprit } = view;
		return budgetDetails(row, board.members, { ...options, culprit, history: board.history(key) });
	}
	const { explanation } = board;
	if (explanation?.key !== key || !explanation.lines) return [[piece("asking the agents of all members ...", "dim")]];
	const [answer = "", ...rest] = explanation.lines;
	return [
		[piece(`As of ${timeOfDay(explanation.at)}; e closes it, and asks anew`, "dim")],
		[piece(answer, "bold")],
		...rest.map((line) => [piece(line)]),
	];
}

/** Centres the selected row if there are enough rows on both sides. */
function firstShown(keys: readonly string[], { selected }: BudgetView, height: number): number {
	const at = Math.max(0, selected === undefined ? 0 : keys.indexOf(selected));
	return Math.max(0, Math.min(at - Math.floor(height / 2), keys.length - height));
}

function moreText(all: number, { from, height }: { readonly from: number; readonly height: number }): string {
	const below = Math.max(0, all - from - height);
	if (from + below === 0) return "";
	const above = from > 0 ? `${from} above` : "";
	return `  + ${[above, below > 0 ? `${counted(below, "more row")} below` : ""].filter((each) => each !== "").join(", ")}`;
}

function tableRows(
	board: BudgetBoard,
	view: BudgetView,
	keys: readonly string[],
	height: number,
	options: BudgetFrameOptions,
): readonly StyledLine[] {
	const from = firstShown(keys, view, height);
	const shown = keys.slice(from, from + height);
	const names = distinctNames(shown, widthsFor(board, options.columns).name - 1);
	const rows = shown.flatMap((key) => {
		const row = board.find(key);
		const isSelected = key === view.selected;
		return row ? [rowLine(row, { name: names.get(key) ?? key, isSelected }, board, options)] : [];
	});
	if (board.knownSince === undefined) rows.push([piece("  asking the agents of all members ...", "dim")]);
	else if (keys.length === 0) rows.push([piece("  none", "dim")]);
	return [...rows, ...Array.from({ length: Math.max(0, height - rows.length) }, () => [])];
}

function titleLine(board: BudgetBoard, view: BudgetView, options: BudgetFrameOptions): StyledLine {
	const { columns, now, contexts } = options;
	const { members } = board;
	const live = members.filter(({ problem }) => problem === undefined).length;
	const rows = [...board.all()];
	const full = rows.filter((row) => !row.suspended && row.allowed === 0 && !hasNoPods(row)).length;
	const unknown = rows.filter(({ allowed, suspended }) => !suspended && allowed === undefined).length;
	const counts = [
		piece(`  ${columns < 100 ? "" : `${counted(rows.length, "budget")}: `}${full} used up`, full > 0 ? "warn" : "dim"),
		...(unknown > 0 ? [piece(`, ${unknown} unknown`, "bad")] : []),
	];
	const state: StyledLine =
		board.knownSince === undefined
			? [piece(`  ${contexts.join(", ")}`)]
			: [piece(`  ${live}/${members.length} live`, live < members.length ? "bad" : "good"), ...counts];
	const place = view.namespace === undefined ? "" : `  namespace ${view.namespace}`;
	const filter = view.filter === "" && !view.isTyping ? "" : `  /${view.filter}${view.isTyping ? "_" : ""}`;
	const sort = `  sort ${view.sort} ${view.isReversed ? "v" : "^"}`;
	const time = `  ${timeOfDay(now)}`;
	const name = [" xpdb budgets -w", " budgets"] as const;
	// When space runs out, the clock goes first, then the long name, then the sort order.
	const titles = [
		[name[0], `${place}${filter}${sort}${time} `],
		[name[0], `${place}${filter}${sort} `],
		[name[1], `${place}${filter}${sort} `],
		[name[1], `${place}${filter} `],
	] as const;
	const numbers = widthOf(lineText(state));
	const fitting = titles.find(([left, right]) => widthOf(left) + numbers + widthOf(right) < columns);
	const [left, right] = fitting ?? titles[3];
	return spread([piece(left, "bold"), ...state], [piece(right)], columns);
}

function headerLine(board: BudgetBoard, options: BudgetFrameOptions): StyledLine {
	const { name, allowed, healthy, need, cluster } = widthsFor(board, options.columns);
	const titles = distinctNames(
		board.members.map((member) => member.name),
		cluster - 1,
	);
	const clusters =
		cluster > 0 ? board.members.map((member) => padded(titles.get(member.name) ?? member.name, cluster)) : [];
	const text = [
		`  ${padded("BUDGET", name)}`,
		padded("ALLOWED", allowed),
		padded("HEALTHY", healthy),
		padded("NEED", need),
		...clusters,
		"USED BY",
	];
	return [piece(text.join(""), "heading")];
}

function rowLine(
	row: BudgetRow,
	{ name: text, isSelected }: { readonly name: string; readonly isSelected: boolean },
	board: BudgetBoard,
	options: BudgetFrameOptions,
): StyledLine {
	const { name, allowed, healthy, need, cluster } = widthsFor(board, options.columns);
	const room = options.columns - 2 - name - allowed - healthy - need - cluster * board.members.length;
	const { suspended } = row;
	const isIdle = suspended || (row.problem === undefined && hasNoPods(row));
	const tone = isIdle ? "dim" : row.allowed === undefined ? "bad" : row.allowed === 0 ? "warn" : "good";
	const perCluster = (member: string): string => {
		const counts = row.perCluster.get(member);
		return padded(counts?.healthy === undefined ? "?" : `${counts.healthy}/${counts.expected ?? "?"}`, cluster);
	};
	const silent = silentMembers(board);
	const problem = row.problem !== undefined && silent.length > 0 ? silenceText(silent) : row.problem;
	const users = suspended
		? "suspended"
		: (problem ?? (podUserText(row, { now: options.now, room }) || (hasNoPods(row) ? "no pods" : needsAllText(row))));
	return [
		piece(isSelected ? "> " : "  ", isSelected ? "bold" : "plain"),
		piece(padded(text, name), isSelected ? "bold" : "plain"),
		piece(padded(allowedText(row), allowed), tone),
		piece(padded(`${row.healthy ?? "?"}/${suspended ? "-" : (row.expected ?? "?")}`, healthy)),
		piece(padded(suspended ? "-" : String(row.need ?? "?"), need)),
		...(cluster > 0 ? board.members.map((member) => piece(perCluster(member.name))) : []),
		piece(users === "" ? "-" : users, tone === "good" ? "dim" : tone),
	];
}

/** For example "0 of 2": disruptions allowed now, and allowed if all expected pods are healthy. */
function allowedText({ allowed, need, expected, suspended }: BudgetRow): string {
	if (suspended) return "off";
	const most = need === undefined || expected === undefined ? undefined : Math.max(0, expected - need);
	return most === undefined ? String(allowed ?? "?") : `${allowed ?? "?"} of ${most}`;
}

function silentMembers({ members }: BudgetBoard): readonly string[] {
	return members.filter(({ problem }) => problem !== undefined).map(({ name }) => name);
}

function noteLine(
	board: BudgetBoard,
	{ keys, height }: { readonly keys: readonly string[]; readonly height: number },
	view: BudgetView,
	{ namespaces }: BudgetFrameOptions,
): StyledLine {
	const isPart = view.filter !== "" || view.namespace !== undefined;
	const filtered = isPart ? `  ${keys.length} of ${board.size} match, esc shows all.` : "";
	const part = `${moreText(keys.length, { from: firstShown(keys, view, height), height })}${filtered}`;
	const silent = silentMembers(board);
	if (silent.length > 0)
		return [piece(part, "dim"), piece(`  ? = not known by ${silent.join(", ")}: counts as 0`, "bad")];
	const polled = board.members.filter(({ isPolled }) => isPolled).map(({ name }) => name);
	const old = polled.length === 0 ? "" : `  older agents in ${polled.join(", ")}: asked every 5 s or more seldom`;
	return [piece(`${part}${old}${board.knownSince === undefined ? "" : placeText(board, namespaces)}`, "dim")];
}

function placeText(board: BudgetBoard, namespaces: WatchedNamespaces): string {
	if (namespaces === "all") return "";
	const names = namespaces === "own" ? board.namespaces() : [namespaces.only];
	const which = names.length === 0 ? "the contexts' own" : names.join(", ");
	return `  only namespace ${which}: -A shows all`;
}

function keysLine({ isTyping, pane }: BudgetView, { columns }: BudgetFrameOptions): StyledLine {
	if (isTyping) {
		const [long, short] = ["type a part of a name, !part for all others", "type a name's part, !part: others"];
		const typing = [
			{ key: long, does: "", short, least: short },
			{ key: "enter", does: "keep", short: "enter keep" },
			{ key: "esc", does: "all", short: "esc all" },
		];
		return footerLine(typing, columns);
	}
	const keys: readonly FooterKey[] = [
		{ key: "up/down", does: "select", short: "up/dn", least: "up/dn" },
		pane ? { key: "esc", does: "back", short: "esc back" } : { key: "enter", does: "details", short: "enter" },
		{ key: "e", does: "explain", short: "e why" },
		{ key: "y", does: "object", short: "y yaml" },
		{ key: "s/r", does: "sort", short: "s/r sort" },
		{ key: "/", does: "filter", short: "/ find" },
		{ key: "n", does: "namespace", short: "n ns" },
		{ key: "q", does: "quit", short: "q quit" },
		{ key: "?", does: "help", short: "? help", least: "? help" },
	];
	return footerLine(keys, columns);
}

function ruleLine(title: string, { columns, glyphs }: BudgetFrameOptions): StyledLine {
	const front = glyphs.rule.repeat(2);
	const rest = Math.max(0, columns - 4 - widthOf(title));
	return [piece(front, "dim"), piece(` ${title} `, "bold"), piece(glyphs.rule.repeat(rest), "dim")];
}

/** The last column is shortened first, and names last. */
function widthsFor(board: BudgetBoard, columns: number) {
	const { members } = board;
	const numbers = { allowed: 9, healthy: 9, need: 6 };
	const least = columns < 80 ? 16 : 24;
	const name = Math.max(least, Math.min(board.longestName + 1, columns - 2 - 24 - 14));
	const rest = columns - name - 26;
	const cluster = columns < 140 ? 9 : 12;
	// The pods that use up a budget matter more than the members' columns, which the details show too.
	return { ...numbers, name, cluster: members.length > 1 && members.length * cluster + 40 <= rest ? cluster : 0 };
}

const help: readonly (readonly [keys: string, what: string])[] = [
	["up, down, k, j", "select a row (also PgUp, PgDn, space)"],
	["enter", "all about it, as it changes; PgDn reads on, esc closes it"],
	["e", "why it allows an eviction now, or not (explain budget/NAME)"],
	["tab, e, y", "in the details: select a pod, explain it, show it"],
	["y", "the budget, as each cluster has it"],
	["s, r", "sort by the next column; the other way round"],
	["/", "only names with this in them; !this: without it; esc: all"],
	["n", "the next namespace; after the last one all"],
	["q, Ctrl-C", "leave"],
	["Ctrl-Z, Ctrl-L", "to the shell and back with fg; draw everything anew"],
];

const helpLines: readonly StyledLine[] = [
	...help.map(([keys, what]) => [piece(`  ${padded(keys, 18)}${what}`)]),
	[],
	[piece("  ALLOWED is how many more pods may be down, over all clusters.")],
	[piece("  ?: unknown, counts as none allowed. off: suspended.")],
	[piece("  The order changes when you ask for it, and every 5 s.")],
];

function helpFor({ columns }: BudgetFrameOptions): readonly StyledLine[] {
	return helpLines.flatMap((line) => (line.length === 0 ? [line] : wrapLine(line, columns)));
}

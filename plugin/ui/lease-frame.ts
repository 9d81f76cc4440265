// Draws a frame of the Leases screen. It fits the terminal and leaves its last row empty.
import { formatElapsed } from "../flags/duration.ts";
import { readHolder } from "../fleet/holder-identity.ts";
import { accountText } from "../output/budget-lines.ts";
import { type LeaseRow, reservationCells } from "../output/lease-lines.ts";
import { tableLines } from "../output/table.ts";
import { counted } from "../terminal/counted.ts";
import { smallestScreen } from "../terminal/screen-terminal.ts";
import { distinctNames, nameColumn } from "./distinct-names.ts";
import { footerLine } from "./footer-line.ts";
import type { FrameOptions } from "./frame-options.ts";
import { type LeaseBoard, leaseName } from "./lease-board.ts";
import type { LeaseView } from "./lease-view.ts";
import { fitLine, lineText, padded, piece, type StyledLine, spread, widthOf } from "./styled-line.ts";
import { timeOfDay } from "./time-text.ts";
import { wrapLine } from "./wrap-line.ts";

export interface LeaseFrameOptions extends Pick<FrameOptions, "columns" | "rows" | "glyphs" | "now"> {
	readonly contexts: readonly string[];
}

export function leaseFrame(board: LeaseBoard, view: LeaseView, options: LeaseFrameOptions): readonly StyledLine[] {
	const { columns, rows } = options;
	const height = Math.max(0, rows - 1);
	if (columns < smallestScreen.columns || rows < smallestScreen.rows) {
		const small = [titleLine(board, options), [piece(" q: leave, or a larger terminal")]];
		return small.slice(0, height).map((line) => fitLine(line, columns));
	}
	const body = height - 2;
	const lines = view.pane === "help" ? helpBody(view, body, options) : tableBody(board, view, body, options);
	const all = [titleLine(board, options), ...filled(lines, body), keysLine(view, options)];
	return all.map((line) => (lineText(line) === "" ? [] : fitLine(line, columns)));
}

function filled(lines: readonly StyledLine[], height: number): readonly StyledLine[] {
	const shown = lines.slice(0, height);
	return [...shown, ...Array.from({ length: height - shown.length }, () => [])];
}

function titleLine(board: LeaseBoard, { columns, contexts, now }: LeaseFrameOptions): StyledLine {
	const rows = board.all();
	const held = rows.filter(({ lease }) => lease.holding !== undefined).length;
	const waiting = rows.reduce((sum, { lease }) => sum + (lease.waiting ?? 0), 0);
	const unreadable = rows.filter(({ lease }) => lease.problem !== undefined).length;
	const left = [
		piece(columns < 80 ? " leases" : " xpdb leases -w", "bold"),
		...(board.knownSince === undefined
			? [piece(`  ${contexts.join(", ")}`)]
			: [
					piece(`  ${counted(rows.length, "Lease")}: ${held} held, `),
					piece(`${waiting} waiting`, waiting > 0 ? "warn" : "dim"),
					...(unreadable > 0 ? [piece(`, ${unreadable} unreadable`, "bad")] : []),
				]),
	];
	return spread(left, [piece(`${timeOfDay(now)} `)], columns);
}

function tableBody(
	board: LeaseBoard,
	view: LeaseView,
	body: number,
	options: LeaseFrameOptions,
): readonly StyledLine[] {
	const { columns, now } = options;
	const keys = board.keys(now);
	const open = view.pane === "details" && view.selected !== undefined ? board.find(view.selected) : undefined;
	// The table needs room for its header and the note below.
	const height = open ? Math.min(Math.max(4, Math.floor(body * 0.4)), Math.max(1, keys.length)) : body - 2;
	const at = Math.max(0, view.selected === undefined ? 0 : keys.indexOf(view.selected));
	const from = Math.max(0, Math.min(at - Math.floor(height / 2), keys.length - height));
	const rows = keys.slice(from, from + height).flatMap((key) => board.find(key) ?? []);
	const widths = widthsFor(board.all(), columns);
	const names = distinctNames(rows.map(leaseName), widths.name - 1);
	const contexts = distinctNames(options.contexts, widths.context - 1);
	const above = [
		headerLine(widths),
		...filled(
			rows.map((row) => {
				const isSelected = view.selected === `${row.context} ${row.lease.uid}`;
				const name = names.get(leaseName(row)) ?? leaseName(row);
				const context = contexts.get(row.context) ?? row.context;
				return rowLine(row, { name, context, isSelected, widths, now });
			}),
			height,
		),
		noteLine(board, { all: keys.length, from, height }),
	];
	if (!open) return above;
	const details = detailsOf(open, options).flatMap((line) => wrapLine([piece(" "), ...line], columns - 1));
	const room = body - above.length - 1;
	const first = Math.max(0, Math.min(view.scroll, details.length - room));
	const below = details.length - room - first;
	const more = below > 0 ? `  ${counted(below, "more line")} below (space)` : "";
	return [...above, ruleLine(`${leaseName(open)} in ${open.context}${more}`, options), ...details.slice(first)];
}

type Widths = ReturnType<typeof widthsFor>;

/** The holder is shortened first, and names last. */
function widthsFor(rows: readonly LeaseRow[], columns: number) {
	const numbers = { waiting: 9, reserved: 10, age: 8 };
	const context = nameColumn(
		rows.map((row) => row.context),
		{ least: 9, most: Math.floor(columns / 4) },
	);
	const most = columns - 2 - 27 - context - 10;
	return { ...numbers, context, name: nameColumn(rows.map(leaseName), { least: 12, most: Math.max(12, most) }) };
}

function headerLine({ name, context, waiting, reserved, age }: Widths): StyledLine {
	const text = `  ${padded("BUDGET", name)}${padded("CONTEXT", context)}${padded("WAITING", waiting)}${padded("RESERVED", reserved)}${padded("FOR", age)}HELD BY`;
	return [piece(text, "heading")];
}

interface RowOptions {
	readonly name: string;
	readonly context: string;
	readonly isSelected: boolean;
	readonly widths: Widths;
	readonly now: number;
}

function rowLine({ at, lease }: LeaseRow, { name, context, isSelected, widths, now }: RowOptions): StyledLine {
	const { problem, waiting, reserved, holding } = lease;
	// A hold is listed again only after a change, so the time since `at` is added.
	const age = holding ? formatElapsed(holding.heldForMs + Math.max(0, now - at)) : "-";
	const isOver = holding?.expiresInMs === 0;
	const holder =
		problem !== undefined ? `unreadable: ${problem}` : holding ? `${holding.holder}${isOver ? " (expired)" : ""}` : "-";
	const tone = problem !== undefined ? "bad" : (waiting ?? 0) > 0 ? "warn" : holding ? "accent" : "dim";
	return [
		piece(isSelected ? "> " : "  ", isSelected ? "bold" : "plain"),
		piece(padded(name, widths.name), isSelected ? "bold" : "plain"),
		piece(padded(context, widths.context)),
		piece(padded(problem !== undefined ? "?" : String(waiting ?? "?"), widths.waiting), tone),
		piece(padded(problem !== undefined ? "?" : String(reserved), widths.reserved)),
		piece(padded(problem !== undefined ? "?" : age, widths.age)),
		piece(holder, tone),
	];
}

function noteLine(
	board: LeaseBoard,
	{ all, from, height }: { readonly all: number; readonly from: number; readonly height: number },
): StyledLine {
	const below = Math.max(0, all - from - height);
	const parts = [from > 0 ? `${from} above` : "", below > 0 ? `${counted(below, "more row")} below` : ""].filter(
		Boolean,
	);
	const more = parts.length > 0 ? `  + ${parts.join(", ")}` : "";
	const [problem] = board.problems;
	if (problem) return [piece(more, "dim"), piece(`  ${timeOfDay(problem.at)} error: ${problem.text}`, "bad")];
	if (board.knownSince === undefined) return [piece("  asking the agents ...", "dim")];
	return [piece(all === 0 ? "  no Leases: these budgets were never asked for" : more, "dim")];
}

function detailsOf({ context, cluster, lease }: LeaseRow, { now }: LeaseFrameOptions): readonly StyledLine[] {
	const { holding, problem, transitions, name, reserved } = lease;
	const who = holding && readHolder(holding.holder);
	const account = holding?.account === undefined ? "" : `, account ${accountText(holding.account)}`;
	const granted = reservationCells({ context, cluster, at: now, lease }).map((cells) => cells.slice(3));
	const titles = ["POD", "STATE", "SINCE", "UNTIL", "CLAIMED BY", "OPERATION", "ACCOUNT"];
	const [header = "", ...rows] = granted.length === 0 ? [] : tableLines(titles, granted);
	return [
		[piece(`Lease ${name}, fence ${transitions}`, "bold")],
		...(problem === undefined ? [] : [[piece(`cannot be read, so nothing is granted: ${problem}`, "bad" as const)]]),
		[
			piece(
				who ? `held by ${who.person}${who.operation === undefined ? "" : `, ${who.operation}`}${account}` : "not held",
			),
		],
		[],
		[piece(`${counted(reserved, "pod")} granted and not seen going yet`, "bold")],
		...(header === "" ? [] : [[piece(header, "heading" as const)]]),
		...rows.map((text) => [piece(text, "heading" as const)]),
	];
}

function ruleLine(title: string, { columns, glyphs }: LeaseFrameOptions): StyledLine {
	const rest = Math.max(0, columns - 4 - widthOf(title));
	return [piece(glyphs.rule.repeat(2), "dim"), piece(` ${title} `, "bold"), piece(glyphs.rule.repeat(rest), "dim")];
}

function keysLine({ pane }: LeaseView, { columns }: LeaseFrameOptions): StyledLine {
	return footerLine(
		[
			{ key: "up/down", does: "select", short: "up/dn", least: "up/dn" },
			pane ? { key: "esc", does: "back", short: "esc back" } : { key: "enter", does: "details", short: "enter" },
			{ key: "q", does: "quit", short: "q quit" },
			{ key: "?", does: "help", short: "? help", least: "? help" },
		],
		columns,
	);
}

const help: readonly string[] = [
	"  up, down, k, j    select a row (also PgUp, PgDn, space)",
	"  enter             who holds it, and the pods that were granted; esc closes it",
	"  q, Ctrl-C         leave",
	"  Ctrl-Z, Ctrl-L    to the shell and back with fg; draw everything anew",
	"",
	"  The busiest come first: most waiting, then held, then most pods granted.",
	"  The order changes every 5 s. WAITING is how many wait for the Lease, RESERVED how many pods are granted and not seen going yet.",
	"  FOR is how long the Lease is held: usually a few round trips, longer by a stuck run (leases release).",
];

function helpBody(view: LeaseView, body: number, options: LeaseFrameOptions): readonly StyledLine[] {
	const lines = help.flatMap((text) => (text === "" ? [[]] : wrapLine([piece(text)], options.columns)));
	return [ruleLine("HELP", options), ...lines.slice(view.scroll, view.scroll + body - 1)];
}

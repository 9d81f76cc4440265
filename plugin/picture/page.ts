// Draws the picture of a run as one page for screen, paper and screen readers. It has no scripts and loads nothing from a network.
import { formatElapsed } from "../flags/duration.ts";
import { budgetFigure } from "./budget-figure.ts";
import { type Html, html, nothing } from "./html.ts";
import { pageStyle } from "./page-style.ts";
import { podTables } from "./pod-table.ts";
import type { Note, RunPicture } from "./run-picture.ts";
import { clockText, dateText } from "./time-axis.ts";
import { waitTable } from "./wait-table.ts";

export function page(picture: RunPicture): string {
	const { lanes, budgets, notes } = picture;
	const title = titleOf(picture);
	return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8">${policy}
<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><title>${title}</title><style>${pageStyle}</style></head>
<body><header><h1>${title}</h1>
<p>${dateText(picture.from)} to ${dateText(picture.to)} UTC${picture.by === undefined ? nothing : html`, run by <b>${picture.by}</b>`}</p>
${picture.commandLine === undefined ? nothing : html`<pre>${picture.commandLine}</pre>`}
${numbers(picture)}</header>
${budgets.length === 0 ? nothing : html`<section><h2>Budgets</h2>${budgetLegend}${budgets.map((curve) => budgetFigure(curve, picture))}</section>`}
${lanes.length === 0 ? nothing : html`<section><h2>Pods</h2>${podLegend}${podTables(lanes, picture)}</section>`}
${waitTable(lanes)}${noteList(notes)}
<footer><p>Made from the events of the run by kubectl xpdb ${picture.client}. Times are UTC.</p></footer></body></html>
`.markup;
}

/** A second safeguard: even if foreign text became markup, the browser would load and run nothing. */
const policy = html`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">`;

function titleOf({ command, op, summary, from, to, dryRun }: RunPicture): string {
	const id = op === undefined ? "" : ` ${op}`;
	const dry = dryRun === undefined ? "" : " (dry run)";
	const result = summary ? summary.result : "the record ends before the run did";
	return `kubectl xpdb ${command}${id}${dry}: ${result}, ${formatElapsed(to - from)}`;
}

function numbers({ summary, lanes, agents }: RunPicture): Html {
	const nodes = lanes.filter(({ node }) => node !== "");
	const drained = nodes.filter(({ end }) => end?.kind === "drained").length;
	const numbersOfRun: readonly (readonly [string, string | number] | undefined)[] = [
		nodes.length === 0 ? undefined : ["Nodes drained", `${drained} of ${nodes.length}`],
		summary && ["Pods evicted", summary.evicted],
		summary && ["Pods failed", summary.failed],
		summary && ["Longest wait", formatElapsed(summary.longestWaitMs)],
		summary?.exitCode === undefined ? undefined : ["Exit code", summary.exitCode],
		agents.length === 0
			? undefined
			: ["Agents", agents.map(([context, version]) => `${context} ${version}`).join(", ")],
	];
	const commands = [
		["Continue", summary?.resume],
		["Undo cordons", summary?.undo],
	] as const;
	return html`<dl>${numbersOfRun.map((each) => (each ? html`<div><dt>${each[0]}<dd>${each[1]}</div>` : nothing))}</dl>
${commands.map(([name, line]) => (line === undefined ? nothing : html`<p>${name}:</p><pre>${line}</pre>`))}`;
}

const budgetLegend = html`<p class="legend"><svg viewBox="0 0 30 8"><path class="healthy" d="M0 4h30"/></svg> healthy pods
<svg viewBox="0 0 30 8"><path class="need" d="M0 4h30"/></svg> needed <svg viewBox="0 0 30 8"><path class="expected" d="M0 4h30"/></svg> expected
<svg viewBox="0 0 30 8"><path class="mark" d="M15 0v8"/></svg> an eviction of this run. Over all clusters. There is no line where nothing was counted.</p>
`;

const podLegend = html`<p class="legend"><svg viewBox="0 0 30 8"><path class="w" d="M0 4h30"/></svg> waiting (thin)
<svg viewBox="0 0 30 8"><path class="t" d="M0 4h30"/></svg> terminating (thick)
<svg viewBox="0 0 30 8"><path class="g" d="M0 4h30"/></svg> gone, until its budgets were counted with as many healthy pods again
as before (replaced). What pods waited for is told below.</p>
`;

function noteList(notes: readonly Note[]): Html {
	if (notes.length === 0) return nothing;
	return html`<section><h2>Warnings and outages</h2>
<table><thead><tr><th scope="col">At<th scope="col">What</thead><tbody>${notes.map(
		({ at, level, where, text }) =>
			html`<tr><td class="at">${clockText(at)}<td class="${level}">${level === "info" ? nothing : html`<b>${level}</b> `}${where === "" ? nothing : `${where}: `}${text}
`,
	)}</tbody></table></section>
`;
}

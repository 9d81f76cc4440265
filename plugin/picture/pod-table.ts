// Draws the pods of a node as rows of a table, each with a bar: thin for waiting, thick for terminating, and dashed until the pod was
// replaced.
import { formatElapsed } from "../flags/duration.ts";
import { counted } from "../terminal/counted.ts";
import { type Html, html, nothing } from "./html.ts";
import type { NodeLane, PodLane, Span } from "./pod-lanes.ts";
import { clockText, placeOf, type TimeRange, ticksOf } from "./time-axis.ts";

export function podTables(lanes: readonly NodeLane[], range: TimeRange): Html {
	const contexts = Map.groupBy(lanes, ({ context }) => context);
	return html`${[...contexts].map(
		([context, nodes]) => html`<section>
<h3>${context === "" ? "This cluster" : context}</h3>
${nodes.map((lane) => nodeTable(lane, range))}</section>`,
	)}`;
}

function nodeTable({ node, pods, cordonedAt, end }: NodeLane, range: TimeRange): Html {
	const cordoned = cordonedAt === undefined ? "" : `cordoned ${clockText(cordonedAt)}`;
	const ended = end === undefined ? "" : `${end.kind === "drained" ? "drained" : "not drained"} ${clockText(end.at)}`;
	const state = [counted(pods.length, "pod"), cordoned, ended].filter(Boolean).join(", ");
	const title = node === "" ? "Named or selected pods" : `Node ${node}`;
	const why = end?.kind === "failed" && end.text !== "" ? html`<p class="why">${end.text}</p>` : nothing;
	if (pods.length === 0) return html`<h4>${title} <small>${state}</small></h4>${why}`;
	return html`<table class="pods"><caption>${title} <small>${state}</small></caption>
<thead><tr><th scope="col">Pod<th scope="col">End<th scope="col">Waited<th scope="col" class="time">${axis(range)}</thead>
<tbody>${pods.map((pod) => podRow(pod, range))}</tbody></table>
${why}`;
}

/** Draws the times above the bars of pods, or below the curve of a budget. */
export function axis(range: TimeRange): Html {
	return html`<span class="axis">${ticksOf(range).map((at) => {
		const place = placeOf(at, range) / 10;
		// Later labels would extend beyond the page.
		if (place > 88) return html`<span style="left:${place}%"></span>`;
		return html`<span${place > 75 ? html` class="late"` : nothing} style="left:${place}%">${clockText(at)}</span>`;
	})}</span>`;
}

function podRow({ pod, spans, end, replacedAt, waitedMs }: PodLane, range: TimeRange): Html {
	const why = end?.kind === "failed" && end.text !== "" ? html`<br><small>${end.text}</small>` : nothing;
	const replaced = replacedAt === undefined ? nothing : html`<br>replaced ${clockText(replacedAt)}`;
	const goneUntil = end && replacedAt !== undefined ? { from: end.at, to: replacedAt } : undefined;
	return html`<tr><td>${pod}${why}<td class="${end?.kind ?? "unknown"}">${endText(end)}${replaced}<td>${formatElapsed(waitedMs)}<td>${bar(spans, goneUntil, range)}
`;
}

function endText(end: PodLane["end"]): string {
	if (!end) return "not known";
	const words = {
		accepted: "terminating",
		stopped: "left",
		skipped: "skipped",
		gone: "was gone",
		evicted: "gone",
		failed: "failed",
	};
	return `${words[end.kind]} ${clockText(end.at)}`;
}

function bar(spans: readonly Span[], goneUntil: TimeRange | undefined, range: TimeRange): Html {
	const gone = goneUntil ? html`<path class="g" d="${line(goneUntil, range)}"/>` : nothing;
	return html`<svg viewBox="0 0 1000 8" preserveAspectRatio="none">${spans.map(({ kind, from, to, reason, text }) => {
		const words = reason === "" ? kind : `${kind} ${formatElapsed(to - from)}: ${reason}: ${text}`;
		const title = reason === "" ? nothing : html`<title>${words}</title>`;
		return kind === "waiting"
			? html`<path class="w" d="${line({ from, to }, range)}">${title}</path>`
			: html`<path class="t" d="${line({ from, to }, range)}"/>`;
	})}${gone}</svg>`;
}

/** Returns the path of a bar, which is always long enough to be visible, and always inside the picture. */
function line({ from, to }: TimeRange, range: TimeRange): string {
	const start = Math.min(placeOf(from, range), 998);
	return `M${start} 4h${Math.max(2, placeOf(to, range) - start)}`;
}

// Makes a table of what pods waited for. Pods with the same reason share a row.
import { formatElapsed } from "../flags/duration.ts";
import { type Html, html, nothing } from "./html.ts";
import type { NodeLane } from "./pod-lanes.ts";
import { clockText } from "./time-axis.ts";

interface Wait {
	readonly pod: string;
	readonly reason: string;
	readonly text: string;
	readonly from: number;
	readonly ms: number;
}

/** Reasons beyond these are only in the bars of their pods. */
const mostShown = 50;

export function waitTable(lanes: readonly NodeLane[]): Html {
	const groups = [...Map.groupBy(lanes.flatMap(waitsOf), ({ reason, text }) => `${reason} ${text}`).values()];
	if (groups.length === 0) return nothing;
	const longest = groups.toSorted((a, b) => longestOf(b) - longestOf(a));
	const more = groups.length - mostShown;
	return html`<section><h2>What pods waited for</h2>
<table class="waits"><thead><tr><th scope="col">From<th scope="col">Longest<th scope="col">Pods<th scope="col">Reason</thead>
<tbody>${longest.slice(0, mostShown).map(waitRow)}</tbody></table>
${more > 0 ? html`<p>And ${more} more, each shorter than these.</p>` : nothing}</section>
`;
}

function waitRow(waits: readonly Wait[]): Html {
	const [first] = waits;
	if (!first) return nothing;
	const from = Math.min(...waits.map((wait) => wait.from));
	const pods = new Set(waits.map(({ pod }) => pod));
	const names = pods.size === 1 ? first.pod : `${first.pod} and ${pods.size - 1} more`;
	return html`<tr><td class="at">${clockText(from)}<td class="at">${formatElapsed(longestOf(waits))}<td>${names}<td><b>${first.reason}</b> ${first.text}
`;
}

function waitsOf({ pods }: NodeLane): readonly Wait[] {
	return pods.flatMap(({ pod, spans }) =>
		spans
			.filter(({ reason }) => reason !== "")
			.map(({ reason, text, from, to }) => ({
				pod,
				reason,
				text: text.replace(`pod ${pod} `, ""),
				from,
				ms: to - from,
			})),
	);
}

function longestOf(waits: readonly Wait[]): number {
	return waits.reduce((longest, { ms }) => Math.max(longest, ms), 0);
}

// Makes a row for each cluster and, below it, one for each of its nodes, in the run's order. If not all fit, drained and queued nodes are
// left out, and the last line counts other hidden rows.
import type { PodCounts } from "../events/pod-tally.ts";
import { formatElapsed } from "../flags/duration.ts";
import { distinctNames, nameColumn } from "./distinct-names.ts";
import type { FrameOptions } from "./frame-options.ts";
import type { NodeFacts, PodFacts, RunFacts } from "./run-facts.ts";
import { padded, piece, type StyledLine, type Tone } from "./styled-line.ts";
import { needsAll, shortReason, usersText } from "./user-text.ts";

export interface SelectableRow {
	readonly key: string;
	readonly line: StyledLine;
}

type LaneOptions = Pick<FrameOptions, "columns" | "glyphs" | "now"> & { readonly selected: string | undefined };

interface Lane {
	readonly key: string;
	readonly name: string;
	readonly glyph: string;
	readonly state: string;
	readonly tone: Tone;
	readonly counts: PodCounts;
	readonly now: string;
}

export function contextKey(context: string): string {
	return `context ${context}`;
}

/** A single context with nodes needs no row of its own. */
export function laneKeys(facts: RunFacts): readonly string[] {
	return facts.contexts.flatMap((context) => [
		...(hasContextRow(facts) ? [contextKey(context)] : []),
		...nodesOf(facts, context).map(({ key }) => key),
	]);
}

export function lanesHeader(facts: RunFacts, { columns }: LaneOptions): StyledLine {
	const { name, state, pods, bar } = widthsFor(facts, columns);
	const title = columns < 80 ? "NODE" : "CLUSTER / NODE";
	const progress = bar > 0 ? padded("PROGRESS", bar + 2) : "";
	const text = `  ${padded(title, name)}${padded("STATE", state + 2)}${padded("PODS", pods)}${progress}NOW`;
	return [piece(text, "heading")];
}

/** At most `height` rows, including the selected one. */
export function laneRows(facts: RunFacts, height: number, options: LaneOptions): readonly SelectableRow[] {
	const all = facts.contexts.flatMap((context) => lanesOf(facts, context, options));
	const widths = widthsFor(facts, options.columns);
	const names = distinctNames(laneNames(facts), widths.name - 1);
	const shown = (lane: Lane): SelectableRow =>
		row(lane, { ...options, widths, name: names.get(lane.name) ?? lane.name });
	if (all.length <= height) return all.map(shown);
	const kept = all.filter(({ key }) => key === options.selected || !isFolded(facts.nodes.get(key)));
	return windowed(kept.map(shown), height, options.selected);
}

/** Returns the rows around the selected one. The last line counts the others. */
export function windowed(
	rows: readonly SelectableRow[],
	height: number,
	selected: string | undefined,
): readonly SelectableRow[] {
	if (rows.length <= height) return rows;
	const shown = Math.max(1, height - 1);
	const at = Math.max(
		0,
		rows.findIndex(({ key }) => key === selected),
	);
	const from = Math.min(Math.max(0, at - shown + 1), rows.length - shown);
	const above = from > 0 ? `${from} above, ` : "";
	const more = `  + ${above}${rows.length - shown - from} more below`;
	return [...rows.slice(from, from + shown), { key: "", line: [piece(more, "dim")] }];
}

function isFolded(node: NodeFacts | undefined): boolean {
	return node?.state === "drained" || node?.state === "queued";
}

function hasContextRow(facts: RunFacts): boolean {
	return facts.contexts.length > 1 || facts.nodes.size === 0;
}

function nodesOf(facts: RunFacts, context: string): readonly NodeFacts[] {
	return [...facts.nodes.values()].filter((node) => node.context === context);
}

function lanesOf(facts: RunFacts, context: string, options: LaneOptions): readonly Lane[] {
	const nodes = nodesOf(facts, context);
	const lanes = nodes.map((node) => nodeLane(facts, node, options));
	return hasContextRow(facts) ? [contextLane(facts, context, nodes, options), ...lanes] : lanes;
}

function contextLane(facts: RunFacts, context: string, nodes: readonly NodeFacts[], options: LaneOptions): Lane {
	const { glyphs, now } = options;
	const counts = facts.counts({ context });
	const lost = [...facts.unreachable].find(([cluster]) => facts.budgets.contextOf(cluster) === context)?.[1];
	const count = (state: NodeFacts["state"]): number => nodes.filter((node) => node.state === state).length;
	const parts = [
		[count("drained"), "done"],
		[count("draining"), "draining"],
		[count("queued"), "queued"],
		[count("failed"), "failed"],
	] as const;
	// A run of evict has no node rows, so the cluster's row shows the pods' state.
	const isOfPods = nodes.length === 0;
	const text = isOfPods
		? nowText(facts, podsIn(facts, context), options)
		: parts
				.filter(([number]) => number > 0)
				.map(([number, word]) => `${number} ${word}`)
				.join(", ");
	const common = { key: contextKey(context), name: context, counts };
	if (lost) {
		const message = `no answer for ${formatElapsed(now - lost.since)}: ${lost.message}`;
		return { ...common, glyph: glyphs.failed, state: "no answer", tone: "bad", now: message };
	}
	const isDone = isOfPods
		? counts.total > 0 && counts.done >= counts.total
		: nodes.every(({ state }) => state === "drained");
	if (isDone) return { ...common, glyph: glyphs.done, state: "done", tone: "good", now: text };
	if (counts.waiting > 0) return { ...common, glyph: glyphs.waiting, state: "waiting", tone: "warn", now: text };
	const isBusy = counts.total > counts.done && (counts.terminating > 0 || count("draining") > 0);
	const going = isOfPods ? "evicting" : "draining";
	if (isBusy) return { ...common, glyph: glyphs.busy, state: going, tone: "accent", now: text };
	if (counts.failed > 0 || count("failed") > 0)
		return { ...common, glyph: glyphs.failed, state: "failed", tone: "bad", now: text };
	return { ...common, glyph: glyphs.queued, state: "queued", tone: "plain", now: text };
}

function nodeLane(facts: RunFacts, node: NodeFacts, options: LaneOptions): Lane {
	const { glyphs } = options;
	const counts = facts.counts(node);
	const total = Math.max(node.pods ?? 0, counts.total);
	const prefix = hasContextRow(facts) ? "  " : "";
	const common = { key: node.key, name: `${prefix}${node.node}`, counts: { ...counts, total } };
	switch (node.state) {
		case "drained":
			return { ...common, glyph: glyphs.done, state: "drained", tone: "good", now: "" };
		case "failed":
			return { ...common, glyph: glyphs.failed, state: "failed", tone: "bad", now: node.message ?? "" };
		case "queued":
			return { ...common, glyph: glyphs.queued, state: "queued", tone: "plain", now: "" };
		case "draining": {
			const pods = facts.podsOn(node);
			const { waiting, terminating } = byState(pods);
			const text = nowText(facts, pods, options);
			// While a pod terminates, the node makes progress, even if other pods wait.
			if (waiting.length > 0 && terminating.length === 0)
				return { ...common, glyph: glyphs.waiting, state: "waiting", tone: "warn", now: text };
			return { ...common, glyph: glyphs.busy, state: "evicting", tone: "accent", now: text };
		}
	}
}

function podsIn(facts: RunFacts, context: string): readonly PodFacts[] {
	return [...facts.pods.values()].filter((pod) => pod.context === context);
}

function byState(pods: readonly PodFacts[]) {
	return {
		waiting: pods.filter(({ state }) => state === "waiting"),
		terminating: pods.filter(({ state }) => state === "terminating"),
	};
}

function nowText(facts: RunFacts, pods: readonly PodFacts[], options: LaneOptions): string {
	const { now, columns } = options;
	const { waiting, terminating } = byState(pods);
	const parts: string[] = [];
	const [ending] = terminating;
	if (ending) {
		const grace = ending.graceSeconds === undefined ? "" : `/${ending.graceSeconds}s`;
		const more = terminating.length > 1 ? ` +${terminating.length - 1}` : "";
		parts.push(`${ending.name} terminating ${Math.floor((now - ending.since) / 1_000)}s${grace}${more}`);
	}
	const [first] = waiting;
	if (first?.wait) {
		const budget = first.wait.budget === undefined ? undefined : facts.budgets.find(first.wait.budget);
		const by = budget ? usersText(facts, budget, { now, room: Math.floor(columns / 3) }) : "";
		const number = `${waiting.length} ${waiting.length === 1 ? "waits" : "wait"}`;
		const budgets = [...new Set(waiting.flatMap(({ wait }) => wait?.budget ?? []))];
		// Without room, or with several budgets, only the budgets' own rows show which pods use them up.
		if (first.wait.budget !== undefined && (columns < 140 || budgets.length > 1)) {
			parts.push(`${number} for ${budgets.join(", ")}`);
			return parts.join(", ");
		}
		const why =
			first.wait.reason === "BudgetExhausted" && budget
				? `${budget.name} ${needsAll(budget) ? "needs all its pods" : "is used up"}${by === "" ? "" : `: ${by}`}`
				: shortReason(first);
		parts.push(`${number}: ${why}`);
	}
	return parts.join(", ");
}

function laneNames(facts: RunFacts): readonly string[] {
	const prefix = hasContextRow(facts) ? "  " : "";
	return [...facts.contexts, ...[...facts.nodes.values()].map(({ node }) => `${prefix}${node}`)];
}

const leastNow = 14;

/** The last column is shortened first, and names last. */
function widthsFor(facts: RunFacts, columns: number) {
	const base =
		columns < 80
			? { name: 20, state: 9, pods: 8, bar: 0 }
			: columns < 100
				? { name: 24, state: 10, pods: 9, bar: 0 }
				: columns < 140
					? { name: 24, state: 10, pods: 9, bar: 16 }
					: { name: 34, state: 10, pods: 11, bar: 24 };
	const others = 4 + base.state + base.pods + (base.bar > 0 ? base.bar + 2 : 0);
	return { ...base, name: nameColumn(laneNames(facts), { least: base.name, most: columns - others - leastNow }) };
}

interface RowOptions extends LaneOptions {
	readonly widths: ReturnType<typeof widthsFor>;
	readonly name: string;
}

function row(lane: Lane, { glyphs, selected, widths, name: text }: RowOptions): SelectableRow {
	const { name, state, pods, bar } = widths;
	const { done, total } = lane.counts;
	const isSelected = lane.key === selected;
	const isContext = lane.key.startsWith("context ");
	return {
		key: lane.key,
		line: [
			piece(isSelected ? "> " : "  ", isSelected ? "bold" : "plain"),
			piece(padded(text, name), isContext || isSelected ? "bold" : "plain"),
			piece(`${lane.glyph} ${padded(lane.state, state)}`, lane.tone),
			piece(padded(total === 0 ? "-" : `${done}/${total}`, pods)),
			...(bar > 0 ? [piece(`${barText(done, total, bar, glyphs)}  `, lane.tone)] : []),
			piece(lane.now, lane.tone === "warn" || lane.tone === "bad" ? lane.tone : "dim"),
		],
	};
}

export function barText(done: number, total: number, width: number, glyphs: FrameOptions["glyphs"]): string {
	// The bar is full only when all pods are done, and not empty as soon as one is.
	const share = total === 0 ? 0 : done / total;
	const full = done >= total && total > 0 ? width : Math.max(0, Math.min(width - 1, Math.ceil(share * width)));
	return glyphs.full.repeat(full) + glyphs.empty.repeat(width - full);
}

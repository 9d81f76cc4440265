// Makes the lines of each pane on the screen of a run.
import { counted } from "../terminal/counted.ts";
import { formatElapsed } from "../flags/duration.ts";
import { allBudgetRows } from "./budget-rows.ts";
import { distinctNames, nameColumn } from "./distinct-names.ts";
import { culpritLines } from "./culprit-lines.ts";
import { culpritsOf, explainLines, say } from "./explain-lines.ts";
import type { FrameOptions } from "./frame-options.ts";
import type { PodFacts, RunFacts } from "./run-facts.ts";
import { objectLines } from "./shown-object.ts";
import { padded, piece, type StyledLine, type Tone } from "./styled-line.ts";
import { timeOfDay } from "./time-text.ts";
import { shortReason } from "./user-text.ts";
import type { Pane, ViewState } from "./view-state.ts";

export function paneLines(
	pane: Pane,
	facts: RunFacts,
	{ selected: key, culprit }: Pick<ViewState, "selected" | "culprit">,
	frame: FrameOptions,
): readonly StyledLine[] {
	const options = { ...frame, culprit };
	switch (pane) {
		case "details":
			return detailsLines(facts, key, options);
		case "explain":
			return explainLines(facts, key, options);
		case "culprit": {
			const { budget, usedBy } = culpritsOf(facts, key);
			const used = culprit === undefined ? undefined : usedBy[culprit];
			if (!used) return [say("It does not use the budget up any more.", "good")];
			return culpritLines(used, { ...options, budget, context: facts.budgets.wayTo(used.cluster) });
		}
		case "object":
			return objectLines(options.object);
		case "budgets":
			return allBudgetRows(facts, { ...options, selected: undefined });
		case "warnings":
			return warningLines(facts);
		case "help":
			return helpLines;
	}
}

function detailsLines(
	facts: RunFacts,
	key: string | undefined,
	options: FrameOptions & Pick<ViewState, "culprit">,
): readonly StyledLine[] {
	const node = key === undefined ? undefined : facts.nodes.get(key);
	const context = key?.startsWith("context ") ? key.slice("context ".length) : undefined;
	if (!node && context === undefined) return explainLines(facts, key, options);
	const pods = [...facts.pods.values()].filter((pod) =>
		node ? pod.context === node.context && pod.node === node.node : pod.context === context,
	);
	const names = pods.map(nameOf);
	// The reason is shortened first.
	const width = nameColumn(names, { least: 20, most: options.columns - 13 - 8 - 14 });
	const shown = distinctNames(names, width - 1);
	const total = node?.pods ?? facts.counts({ context: node?.context ?? context ?? "" }).total;
	const title = node
		? `Node ${node.context}/${node.node}: ${node.state} since ${timeOfDay(node.since)}, ${total} pods`
		: `Context ${context}: ${total} pods`;
	return [
		say(title, "bold"),
		...(node?.message === undefined ? [] : [say(node.message, "bad")]),
		say(""),
		say(`${padded("STATE", 13)}${padded("FOR", 8)}${padded("POD", width)}WHY`, "heading"),
		...pods.map((pod) => podLine(pod, { ...options, width, name: shown.get(nameOf(pod)) ?? nameOf(pod) })),
		...(total > pods.length ? [say(`${counted(total - pods.length, "pod")} not requested yet`, "dim")] : []),
	];
}

function warningLines({ warnings }: RunFacts): readonly StyledLine[] {
	if (warnings.length === 0) return [say("none", "dim")];
	return warnings.map(({ at, context, text, level }) => {
		const place = context === "" ? "" : `${context}: `;
		const isNamed = level === "error" || text.startsWith("Warning: ");
		return say(
			`${timeOfDay(at)} ${place}${level === "error" ? "error: " : isNamed ? "" : "Warning: "}${text}`,
			level === "error" ? "bad" : "warn",
		);
	});
}

function nameOf({ namespace, name }: PodFacts): string {
	return `${namespace}/${name}`;
}

interface PodLineOptions extends FrameOptions {
	readonly width: number;
	readonly name: string;
}

function podLine(pod: PodFacts, { now, width, name }: PodLineOptions): StyledLine {
	const tones: Partial<Record<PodFacts["state"], Tone>> = {
		gone: "good",
		waiting: "warn",
		failed: "bad",
		terminating: "accent",
	};
	const why = pod.state === "waiting" ? shortReason(pod) : (pod.message ?? pod.budgets.join(", "));
	const isOver = pod.state === "gone" || pod.state === "skipped";
	return [
		piece(padded(pod.state, 13), tones[pod.state] ?? "plain"),
		piece(padded(isOver ? "" : formatElapsed(now - pod.since), 8), "dim"),
		piece(padded(name, width)),
		piece(why, "dim"),
	];
}

const helpLines: readonly StyledLine[] = [
	say("Keys", "bold"),
	say("  up, down, k, j   select a row; scroll an open page (also PgUp, PgDn, space)"),
	say("  enter            all about the selected row"),
	say("  e                why it is stuck, who uses the budget up, when that frees"),
	say("  tab, e, y        there: select a pod that uses the budget up, explain it, show it"),
	say("  y                the node, pod or budget, as its API server has it"),
	say("  b                all budgets, with the healthy pods of each cluster"),
	say("  w                all warnings and errors of the run, in full"),
	say("  p                pause: no new evictions until p is pressed again"),
	say("  q                leave this view; the run goes on in plain lines"),
	say("  Ctrl-C           stop: accepted ones finish, no new ones; twice: at once"),
	say("  Ctrl-Z           to the shell; fg comes back. The run stands still meanwhile"),
	say("  Ctrl-L           draw everything anew"),
	say("  ?, esc           this page; close a page"),
	say(""),
	say("Rows", "bold"),
	say("  PODS is evicted/all. LEFT is how many more may be down, over all clusters."),
	say("  WAITING has the longest wait first, with its place for its budget."),
	say("  Shows the same events as -o json."),
];

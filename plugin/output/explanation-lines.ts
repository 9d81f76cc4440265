// Formats `kubectl xpdb explain`: the answer, the reasons, and commands to run next.
import { formatBudgetName } from "../../disruption/budget/budget.ts";
import { usedByText, whenItFrees } from "../events/used-by-text.ts";
import { formatElapsed } from "../flags/duration.ts";
import { boundText } from "../fleet/budget-members.ts";
import type { BudgetRow, PodOfBudget } from "../fleet/budget-table.ts";
import { missingPods, missingText, whenMissingFrees } from "../fleet/missing-pods.ts";
import type { ExplainedPod, Explanation, Finding, Verdict } from "../plan/explain/explanation.ts";
import type { HeldLease } from "../plan/explain/read-held-leases.ts";
import { counted } from "../terminal/counted.ts";
import { budgetNotes } from "./budget-lines.ts";
import type { HelpfulCommand } from "./helpful-commands.ts";
import { wrappedLines } from "./table.ts";

export interface ExplanationLinesOptions {
	/** Undefined for a pipe or a screen: lines are not wrapped. */
	readonly columns: number | undefined;
	/** In ms since the epoch. */
	readonly now: number;
	readonly wide: boolean;
	readonly commands: readonly HelpfulCommand[];
}

export function explanationLines(explanation: Explanation, options: ExplanationLinesOptions): readonly string[] {
	const { subject, budgets, notes, findings, problems } = explanation;
	const keeping = new Set(findings.map(({ budget }) => budget));
	// A node may have many budgets, so show only those that block something.
	const shown = subject.kind === "Node" ? budgets.filter((row) => keeping.has(formatBudgetName(row))) : budgets;
	const blocks = [
		[answer(explanation), ...(subject.kind === "Node" ? [] : findings.map(({ message }) => `  ${message}`))],
		problems.length === 0 ? [] : ["No answer:", ...problems.map((problem) => `  ${problem}`)],
		subject.kind === "Pod" ? explanation.pods.flatMap(placeLines) : [],
		subject.kind === "Node" ? groupLines(explanation.pods, options) : [],
		notes.map((note) => `${note}.`),
		...shown.map((row) => budgetBlock(row, explanation, options.now)),
	].map((block) =>
		block.flatMap((line) => wrappedLines(line, options.columns, /^ {4}/.test(line) ? "      " : "    ")),
	);
	// A wrapped command could not be copied.
	const commands = options.commands.flatMap(({ does, command }) => [`${does}:`, `  ${command}`]);
	return [...blocks, commands]
		.filter((block) => block.length > 0)
		.flatMap((block, index) => (index === 0 ? block : ["", ...block]));
}

function answer({ subject, verdict, pods }: Explanation): string {
	const { kind, namespace, name } = subject;
	const text = namespace === undefined ? name : `${namespace}/${name}`;
	switch (kind) {
		case "Pod":
			return answerForPod(`pod ${text}`, verdict, pods[0]);
		case "Budget":
			return {
				MayGo: `Yes: budget ${text} allows an eviction now.`,
				Follows: "",
				Waits: `Not now: budget ${text} is used up.`,
				Unknown: `Unknown (treated as no): cannot tell what budget ${text} allows.`,
				Refused: `No: budget ${text} allows no eviction until someone intervenes.`,
			}[verdict];
		case "Node": {
			const going = pods.filter(({ drain }) => drain.kind !== "leaves");
			const kept = going.filter((pod) => pod.verdict !== "MayGo" && pod.verdict !== "Follows");
			const acts = kept.filter((pod) => pod.verdict === "Refused").length;
			const block = kept.length === 1 ? "blocks" : "block";
			const of = `${kept.length} of the ${counted(going.length, "pod")} of node ${name} ${block} the drain`;
			if (verdict === "MayGo") {
				if (going.length === 0) return `Yes: node ${name} has no pods that a drain would take.`;
				const later = going.filter((pod) => pod.verdict === "Follows").length;
				return `Yes: node ${name} can be drained now, ${counted(going.length, "pod")} go${later > 0 ? `, ${later} of them one after the other` : ""}.`;
			}
			if (verdict === "Unknown" && kept.length === 0) {
				return `Unknown (treated as no): not all pods of node ${name} could be seen.`;
			}
			return {
				Follows: "",
				Waits: `Not now: ${of}, which would wait for ${kept.length === 1 ? "it" : "them"}.`,
				Unknown: `Unknown (treated as no): ${of} while answers are missing.`,
				Refused: `No: ${of}${acts === kept.length ? "" : `, ${acts} of them`} until someone intervenes.`,
			}[verdict];
		}
	}
}

function answerForPod(name: string, verdict: Verdict, pod: ExplainedPod | undefined): string {
	const message = pod?.message ?? "";
	return {
		MayGo: message === "" ? `Yes: ${name} can be evicted now.` : `Yes: ${name} can be evicted, ${message}.`,
		Follows: "",
		Waits: `Not now: ${name} has to wait.`,
		Unknown: `Unknown (treated as no): cannot tell whether ${name} can be evicted.`,
		Refused: `No: ${name} cannot be evicted until someone intervenes.`,
	}[verdict];
}

function placeLines({ context, node, owner, state, budgets, drain, findings }: ExplainedPod): readonly string[] {
	const at = node === "" ? "on no node yet" : `on node ${node}`;
	const where = context === "" ? at : `${at} of ${context}`;
	const of = owner === "" ? "no controller makes another one" : `of ${owner}`;
	const isUnknown = findings.some(({ verdict }) => verdict === "Unknown");
	return [
		`It is ${state} ${where}, ${of}.`,
		...(budgets.length === 0 ? [isUnknown ? "" : "No budget of the fleet covers it."] : []),
		...{
			takes: [],
			leaves: [`A drain leaves it where it is: ${drain.message}.`],
			refuses: [
				`A drain of its node refuses it, evict does not: ${drain.message}.`,
				...(owner === "" ? ["With --force a drain takes it, and nothing recreates it."] : []),
			],
		}[drain.kind],
	].filter((line) => line !== "");
}

const groups: readonly { readonly title: string; readonly has: (pod: ExplainedPod) => boolean }[] = [
	{ title: "Blocked until someone intervenes", has: ({ verdict }) => verdict === "Refused" },
	{ title: "Unknown (treated as no)", has: ({ verdict }) => verdict === "Unknown" },
	{ title: "Must wait", has: ({ verdict }) => verdict === "Waits" },
	{ title: "Go one after the other", has: ({ verdict }) => verdict === "Follows" },
	{ title: "Terminate or have ended", has: ({ message }) => message !== "" },
	{ title: "Can be evicted now", has: () => true },
];

function groupLines(pods: readonly ExplainedPod[], options: ExplanationLinesOptions): readonly string[] {
	const left = pods.filter(({ drain }) => drain.kind === "leaves");
	let rest = pods.filter(({ drain }) => drain.kind !== "leaves");
	const lines: string[] = [];
	for (const { title, has } of groups) {
		const here = rest.filter(has);
		rest = rest.filter((pod) => !here.includes(pod));
		if (here.length > 0) lines.push(`${title}:`, ...reasonLines(here, options));
	}
	if (left.length > 0) lines.push("Skipped by a drain:", ...reasonLines(left, options));
	return lines;
}

function reasonLines(pods: readonly ExplainedPod[], options: ExplanationLinesOptions): readonly string[] {
	const byReason = Map.groupBy(pods, (pod) => whyOf(pod, options.now));
	return [...byReason].flatMap(([why, each]) => {
		const most = options.wide ? each.length : 8;
		const more = each.length > most ? ` and ${each.length - most} more` : "";
		const names = each
			.slice(0, most)
			.map(({ namespace, pod }) => `${namespace}/${pod}`)
			.join(", ");
		return why === "" ? [`  ${names}${more}`] : [`  ${why}:`, `    ${names}${more}`];
	});
}

function whyOf({ findings, message, drain }: ExplainedPod, now: number): string {
	if (drain.kind === "leaves") return drain.message;
	if (findings.length === 0) return message;
	return findings.map((finding) => findingText(finding, now)).join("; ");
}

function findingText({ message, usedBy }: Finding, now: number): string {
	const users = usedByText(usedBy, { at: now, most: 1, brief: true });
	return users === "" ? message : `${message}; used by ${users}`;
}

function budgetBlock(row: BudgetRow, explanation: Explanation, now: number): readonly string[] {
	const { answering, clusters, leases, pods } = explanation;
	const { members, healthy, need, expected, allowed, suspended, perCluster, usedBy } = row;
	const number = (value: number | undefined): string => (value === undefined ? "?" : String(value));
	const bound = members.length === 0 ? "" : ` (${boundText(members)})`;
	const counts = suspended
		? `${number(healthy)} healthy, none required`
		: `${number(healthy)} of ${number(expected)} healthy, ${number(need)} required, ` +
			(allowed === undefined ? "unknown how many can be evicted" : `${allowed} can be evicted`);
	const byCluster = clusters.map((name) => {
		const here = perCluster.get(name);
		return here?.healthy === undefined ? `${name} ?` : `${name} ${here.healthy}/${number(here.expected)}`;
	});
	const isTold = pods.some(({ findings }) =>
		findings.some(({ budget = formatBudgetName(row) }) => budget === formatBudgetName(row)),
	);
	const notes = row.problem === undefined || !isTold ? budgetNotes(row, answering, now) : [];
	const users = [
		...usedBy.map((pod) => userText(pod, now)),
		...missingPods(row).map((missing) => `${missing.cluster}: ${missingText(missing)}; ${whenMissingFrees(missing)}`),
	];
	return [
		`Budget ${formatBudgetName(row)}${bound}: ${counts}.`,
		...(byCluster.length === 0 ? [] : [`  Healthy of expected: ${byCluster.join(", ")}`]),
		...leases.filter(({ budget }) => budget === formatBudgetName(row)).map((lease) => `  ${leaseText(lease)}`),
		...notes.map((note) => `  ${note}`),
		...(users.length === 0 ? [] : ["  Used up by:", ...users.map((user) => `    ${user}`)]),
	];
}

function leaseText({ cluster, holder, heldForMs = 0, waiting }: HeldLease): string {
	const held = holder === undefined ? "not held" : `held by ${holder} for ${formatElapsed(heldForMs)}`;
	const line = waiting === 0 ? "" : `, ${waiting} ${waiting === 1 ? "waits" : "wait"} for it`;
	return `Its Lease in ${cluster}: ${held}${line}`;
}

function userText({ name, ...pod }: PodOfBudget, now: number): string {
	const used = { ...pod, pod: name };
	return `${usedByText([used], { at: now, brief: true })}; ${whenItFrees(used)}`;
}

// Explains why the selected row waits and what would help, from the run's events alone.
import type { UsedBy } from "../events/events.ts";
import { whenItFrees } from "../events/used-by-text.ts";
import { formatElapsed } from "../flags/duration.ts";
import { missingText, whenMissingFrees } from "../fleet/missing-pods.ts";
import { fixCommand } from "../output/fix-command.ts";
import type { BudgetFacts } from "./budget-book.ts";
import { leftText } from "./budget-rows.ts";
import { culpritKeys, culpritMark } from "./culprit-lines.ts";
import type { FrameOptions } from "./frame-options.ts";
import type { PodFacts, RunFacts } from "./run-facts.ts";
import { piece, type StyledLine, type Tone } from "./styled-line.ts";
import { timeOfDay } from "./time-text.ts";
import {
	holderText,
	missingOf,
	needsAll,
	ownStateText,
	ownUsers,
	silenceText,
	sinceText,
	stateText,
} from "./user-text.ts";
import type { ViewState } from "./view-state.ts";
import { ordinal } from "./waiting-rows.ts";

type ExplainOptions = Pick<FrameOptions, "now" | "suggest"> & Pick<ViewState, "culprit">;

export function culpritsOf(
	facts: RunFacts,
	key: string | undefined,
): { readonly budget: string; readonly usedBy: readonly UsedBy[] } {
	const budget = facts.budgets.all.find((each) => each.key === key);
	if (budget) return { budget: budget.name, usedBy: budget.usedBy };
	const pod = key === undefined ? undefined : (facts.pods.get(key) ?? facts.waiting.find(isIn(facts, key)));
	if (pod?.state !== "waiting" || pod.wait?.budget === undefined) return { budget: "", usedBy: [] };
	return { budget: pod.wait.budget, usedBy: usersOf(facts, pod) };
}

/** Returns the number of listed pods that use up a budget. 0 in the details of a node or context, which list other pods. */
export function culpritCount(facts: RunFacts, { pane, selected }: Pick<ViewState, "pane" | "selected">): number {
	const listsPods =
		pane === "details" && (selected?.startsWith("context ") === true || facts.nodes.has(selected ?? ""));
	return listsPods ? 0 : culpritsOf(facts, selected).usedBy.length;
}

/** Returns the budget's current unhealthy pods if it is watched, and otherwise those reported with the wait. */
function usersOf({ budgets }: RunFacts, { wait }: PodFacts): readonly UsedBy[] {
	const budget = wait?.budget === undefined ? undefined : budgets.find(wait.budget);
	return budget?.isWatched ? budget.usedBy : (wait?.usedBy ?? []);
}

/** Selects the pods of a node or context, or all pods for any other key. */
function isIn(facts: RunFacts, key: string | undefined): (pod: PodFacts) => boolean {
	const node = key === undefined ? undefined : facts.nodes.get(key);
	const context = key?.startsWith("context ") ? key.slice("context ".length) : undefined;
	return (pod) =>
		node ? pod.context === node.context && pod.node === node.node : context === undefined || pod.context === context;
}

export function say(text: string, tone: Tone = "plain"): StyledLine {
	return [piece(text, tone)];
}

export function explainLines(facts: RunFacts, key: string | undefined, options: ExplainOptions): readonly StyledLine[] {
	const unreachable = [...facts.unreachable.keys()].flatMap((cluster) => silenceLines(facts, cluster, options));
	const pod = key === undefined ? undefined : facts.pods.get(key);
	const isOver = pod?.state === "terminating" || pod?.state === "gone" || pod?.state === "failed";
	if (pod) return [...(isOver ? [] : unreachable), ...explainPod(facts, pod, options)];
	const budget = facts.budgets.all.find((each) => each.key === key);
	if (budget) return [...unreachable, ...explainBudget(facts, budget, options)];
	const node = key === undefined ? undefined : facts.nodes.get(key);
	const context = key?.startsWith("context ") ? key.slice("context ".length) : undefined;
	const isHere = isIn(facts, key);
	const name = node ? `node ${node.context}/${node.node}` : context === undefined ? "the run" : `context ${context}`;
	if (facts.isPaused)
		unreachable.push(say("The run is paused: nothing new is evicted until p is pressed again.", "warn"));
	const waiting = facts.waiting.filter(isHere);
	const [first] = waiting;
	if (node?.state === "failed") return [say(`${name} was not drained: ${node.message ?? ""}`, "bad")];
	if (first) {
		const others = waiting.length - 1;
		const more = others === 0 ? "" : `, ${others} more with it`;
		return [
			say(`On ${name} a pod waits${more}. The first of them:`, "bold"),
			say(""),
			...explainPod(facts, first, options),
			...unreachable,
		];
	}
	const terminating = [...facts.pods.values()].filter((each) => each.state === "terminating" && isHere(each));
	const lines = terminating.map((each) => say(terminatingText(each, options.now)));
	if (unreachable.length + lines.length > 0) return [...unreachable, ...lines];
	if (node?.state === "queued")
		return [say(`${name} has not begun: its turn comes after the nodes before it (--max-nodes).`)];
	if (node?.state === "drained") return [say(`${name} is drained.`, "good")];
	return [say(`Nothing waits in ${name}.`)];
}

function silenceLines(facts: RunFacts, cluster: string, { suggest }: ExplainOptions): readonly StyledLine[] {
	const silence = facts.unreachable.get(cluster);
	if (!silence) return [];
	const { since, message, silent } = silence;
	const context = facts.budgets.wayTo(cluster);
	const see = context === undefined ? undefined : fixCommand("PeerUnreachable", { context, suggest, silent });
	return [
		say(
			`Cluster ${cluster} gives no answer since ${timeOfDay(since)}, nothing is evicted until it does: ${message}`,
			"bad",
		),
		...(see === undefined ? [] : [say(`See: ${see}`)]),
	];
}

function explainPod(facts: RunFacts, pod: PodFacts, options: ExplainOptions): readonly StyledLine[] {
	const { now, suggest } = options;
	const title = say(
		`Pod ${pod.namespace}/${pod.name} in ${pod.context}${pod.node === undefined ? "" : ` on node ${pod.node}`}`,
		"bold",
	);
	const { wait } = pod;
	if (pod.state === "terminating") return [title, say(terminatingText(pod, now))];
	if (pod.state === "gone") return [title, say(`It is gone since ${timeOfDay(pod.since)}.`, "good")];
	if (pod.state === "failed") return [title, say(`It failed: ${pod.message ?? ""}`, "bad")];
	if (pod.state !== "waiting" || !wait)
		return [title, say(`Its state is "${pod.state}" since ${timeOfDay(pod.since)}.`)];
	const budget = wait.budget === undefined ? undefined : facts.budgets.find(wait.budget);
	const fix = fixCommand(wait.reason, { ...pod, pod: pod.name, suggest });
	const again =
		wait.retryAt === undefined || wait.retryAt <= now
			? ""
			: ` It is looked at again ${inText(wait.retryAt - now)} at the latest.`;
	return [
		title,
		say(`Waiting since ${timeOfDay(wait.since)} (${formatElapsed(now - wait.since)}): ${wait.message}`, "warn"),
		...(facts.isPaused ? [say("The run is paused: nothing new is evicted until p is pressed again.", "warn")] : []),
		...(budget ? [say(""), ...budgetLines(facts, budget, options, usersOf(facts, pod))] : []),
		...placeLines(facts, pod),
		say(""),
		say(`Reason ${wait.reason}.${again}`, "dim"),
		...(fix === undefined ? [] : [say(`See: ${fix}`)]),
	];
}

function inText(ms: number): string {
	return ms < 1_000 ? "in a moment" : `in ${formatElapsed(ms)}`;
}

function placeLines(facts: RunFacts, pod: PodFacts): readonly StyledLine[] {
	const place = facts.placeOf(pod);
	if (place === 0) return [];
	const rivals = facts.waiting.filter(({ wait }) => wait?.budget === pod.wait?.budget).length;
	return [say(`${ordinal(place)} of ${rivals} in line for this budget in this run.`)];
}

function explainBudget(facts: RunFacts, budget: BudgetFacts, options: ExplainOptions): readonly StyledLine[] {
	const waiting = facts.waiting.filter(({ wait }) => wait?.budget === budget.name);
	const names = waiting.map(({ context, name }) => `${context}/${name}`);
	const [namespace = "", ...rest] = budget.name.split("/");
	const see = options.suggest.xpdbInAll(["explain", `budget/${rest.join("/")}`, "-n", namespace]);
	return [
		...budgetLines(facts, budget, options, budget.usedBy),
		...(names.length === 0 ? [] : [say(`Waiting for it: ${names.join(", ")}`)]),
		...(budget.left === 0 ? [say(""), say(`As it is now: ${see}`)] : []),
	];
}

function budgetLines(
	facts: RunFacts,
	budget: BudgetFacts,
	{ now, culprit }: ExplainOptions,
	usedBy: readonly UsedBy[],
): readonly StyledLine[] {
	const { name, need, left, fullSince, line, uncountedIn, unknown } = budget;
	const silent = facts.silentContexts;
	if (silent.length > 0) {
		const before = need === undefined ? "" : `; before: ${numbersText(budget)} were`;
		return [say(`Budget ${name}: unknown (treated as 0 left): ${silenceText(silent)}${before}`, "bad")];
	}
	if (unknown !== undefined) return [say(`Budget ${name}: unknown (treated as 0 left): ${unknown}`, "bad")];
	const counted = need === undefined ? "it was not counted yet" : `${numbersText(budget)} are`;
	const full =
		left === 0 && fullSince !== undefined ? `, since ${timeOfDay(fullSince)} (${formatElapsed(now - fullSince)})` : "";
	const places = budget.clusters.map(
		({ context, healthy: here, expected: wanted }) => `${context} ${here}/${wanted ?? "?"}`,
	);
	const own = ownUsers(facts, budget).filter(
		({ name: pod, context }) =>
			!usedBy.some((used) => used.pod === pod && facts.budgets.contextOf(used.cluster) === context),
	);
	const missing = missingOf(facts, budget);
	const users = usedBy.map((used, at) => {
		const since = sinceText(used, now);
		const holder = holderText(used) === "" ? "" : `, ${holderText(used)}`;
		return `${culpritMark(at, culprit)}${facts.budgets.contextOf(used.cluster)}/${used.namespace}/${used.pod}: ${stateText(used)}${since === "" ? "" : ` for ${since}`}${holder}; ${whenItFrees(used)}`;
	});
	return [
		say(`Budget ${name}: ${counted}; ${leftText(budget)} left${full}`, left === 0 ? "warn" : "plain"),
		...(needsAll(budget)
			? [
					say(
						"It allows no eviction, however many pods are healthy. Change its bound or the number of expected pods.",
						"warn",
					),
				]
			: []),
		...(uncountedIn.size === 0 ? [] : [say(uncountedText(facts, name))]),
		...(places.length === 0 ? [] : [say(`Healthy by cluster: ${places.join(", ")}`)]),
		...(users.length + own.length + missing === 0
			? []
			: [say(users.length === 0 ? "Used up by:" : `Used up by (${culpritKeys}):`)]),
		...users.map((text) => say(text)),
		...own.map((pod) =>
			say(
				`  ${pod.context}/${pod.namespace}/${pod.name}: ${ownStateText(pod, now)}, by this run; frees when its replacement is ready`,
			),
		),
		...(missing > 0 ? [say(`  ${missingText({ pods: missing })}: ${whenMissingFrees({ pods: missing })}`)] : []),
		...(line
			? [
					say(
						`In its line: ${line.holder} holds the Lease in ${line.context} for ${formatElapsed(now - line.since)}; this run is ${ordinal(line.position)}.`,
					),
				]
			: []),
	];
}

function uncountedText({ waiting }: RunFacts, budget: string): string {
	return waiting.some(({ wait }) => wait?.budget === budget)
		? "Counted before this run last tried to evict under it."
		: "Counted before this run evicted the pods below. No pod waits for the budget, so there is no newer count.";
}

function numbersText({ need, expected, healthy }: BudgetFacts): string {
	return `${need} of ${expected ?? "?"} pods have to stay healthy, ${healthy ?? "?"}`;
}

function terminatingText({ context, namespace, name, since, graceSeconds }: PodFacts, now: number): string {
	const grace = graceSeconds === undefined ? "" : ` of at most ${graceSeconds}s`;
	return `${context}/${namespace}/${name} terminating for ${formatElapsed(now - since)}${grace}`;
}

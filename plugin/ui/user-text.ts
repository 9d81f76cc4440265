// Who uses a budget up, in words.
import type { UsedBy } from "../events/events.ts";
import { formatElapsed } from "../flags/duration.ts";
import type { BudgetRow } from "../fleet/budget-table.ts";
import { missingBeside, missingCount, missingPods, missingText } from "../fleet/missing-pods.ts";
import type { BudgetFacts } from "./budget-book.ts";
import type { FrameOptions } from "./frame-options.ts";
import type { PodFacts, RunFacts } from "./run-facts.ts";
import { cut, cutMiddle, widthOf } from "./styled-line.ts";

/** What it is doing, as the cluster says it. */
export function stateText({ why, state }: Pick<UsedBy, "why" | "state">): string {
	if (state !== undefined && state !== "") return state;
	return { Reserved: "being evicted", Terminating: "terminating" }[why] ?? "not ready";
}

/** For how long; "" where nobody knows. */
export function sinceText({ sinceSeconds }: Pick<UsedBy, "sinceSeconds">, now: number): string {
	const since = sinceSeconds === undefined ? Number.NaN : sinceSeconds * 1_000;
	return Number.isFinite(since) && since <= now ? formatElapsed(now - since) : "";
}

type BudgetNumbers = Pick<BudgetRow, "need" | "expected"> | Pick<BudgetFacts, "need" | "expected">;

/** It lets none go, however many are healthy: somebody has to change it, or how many pods there should be. */
export function needsAll({ need, expected }: BudgetNumbers): boolean {
	return need !== undefined && expected !== undefined && expected > 0 && need >= expected;
}

/** In the place of who uses it up, where nobody does. */
export function needsAllText(budget: BudgetNumbers): string {
	return needsAll(budget) ? "nobody, it needs them all" : "";
}

interface UserTextOptions extends Pick<FrameOptions, "now"> {
	/** How many columns there are for it. */
	readonly room: number;
}

interface UserParts {
	readonly place: string;
	readonly pod: string;
	readonly state: string;
	readonly since: string;
	/** How many others there are. */
	readonly others: number;
}

/** Since when and its state give way before its name does; of that the middle. */
function fittingText({ place, pod, state, since, others }: UserParts, room: number): string {
	const more = others > 0 ? ` +${others}` : "";
	const name = `${place}/${pod}`;
	const fits = (text: string): boolean => widthOf(text) + more.length <= room;
	const [whole, withState] = [
		[name, state, since],
		[name, state],
	].map((parts) => parts.filter(Boolean).join(" "));
	const left = room - more.length - widthOf(name) - 1;
	const texts = [whole, withState, ...(left >= leastState ? [`${name} ${cut(state, left)}`] : []), name];
	const fitting = texts.find((text) => text !== undefined && fits(text));
	if (fitting !== undefined) return `${fitting}${more}`;
	const columns = Math.max(leastName, room - more.length);
	// What is random in the name of a pod is its end.
	return `${columns < 20 ? `..${name.slice(2 - columns)}` : cutMiddle(name, columns)}${more}`;
}

/** Of fewer letters nobody makes a word. */
const leastState = 6;
const leastName = 8;

/** "us/db-0 terminating 12s +1", "2 pods missing", or "" where nobody does. */
export function usersText(facts: RunFacts, budget: BudgetFacts, { room, now }: UserTextOptions): string {
	const [first] = budget.usedBy;
	const missing = missingOf(facts, budget);
	if (first) {
		const place = facts.budgets.contextOf(first.cluster);
		const others = budget.usedBy.length - 1 + missing;
		return fittingText({ place, pod: first.pod, state: stateText(first), since: sinceText(first, now), others }, room);
	}
	const own = ownUsers(facts, budget);
	const [pod] = own;
	if (!pod) return missing > 0 ? missingText({ pods: missing }) : "";
	const others = own.length - 1 + missing;
	return fittingText({ place: pod.context, pod: pod.name, state: ownStateText(pod, now), since: "", others }, room);
}

/** Pods that nobody can name, of a budget with nothing left. Those that this run has evicted are not among them. */
export function missingOf(facts: RunFacts, budget: BudgetFacts): number {
	if (budget.isWatched) return missingBeside(budget, budget.usedBy);
	if (budget.left !== 0) return 0;
	const isTold = ({ context, name }: PodFacts): boolean =>
		budget.usedBy.some(({ cluster, pod }) => pod === name && facts.budgets.contextOf(cluster) === context);
	const own = ownUsers(facts, budget).filter((pod) => !isTold(pod));
	return Math.max(0, missingBeside(budget, budget.usedBy) - own.length);
}

/** The same of a budget as the agents tell it. */
export function podUserText(row: Pick<BudgetRow, "usedBy" | "perCluster">, { room, now }: UserTextOptions): string {
	const { usedBy } = row;
	const [first] = usedBy;
	const missing = missingPods(row);
	const [absent] = missing;
	if (!first) {
		const elsewhere = missingCount(missing) - (absent?.pods ?? 0);
		return absent ? `${absent.cluster}: ${missingText(absent)}${elsewhere > 0 ? ` +${elsewhere}` : ""}` : "";
	}
	const others = usedBy.length - 1 + missingCount(missing);
	const parts = {
		place: first.cluster,
		pod: first.name,
		state: stateText(first),
		since: sinceText(first, now),
		others,
	};
	return fittingText(parts, room);
}

/**
 * Pods of this run that are on their way, or gone since the budget was used up: nobody has counted their replacement yet. Where it is
 * watched they are among those who use it up, as they are now.
 */
export function ownUsers(facts: RunFacts, budget: BudgetFacts): readonly PodFacts[] {
	const { name, left, fullSince = 0, uncountedIn, isWatched } = budget;
	if (isWatched && uncountedIn.size === 0) return [];
	return [...facts.pods.values()].filter(({ state, since, budgets, context }) => {
		if (!budgets.includes(name)) return false;
		if (state === "terminating" || state === "evicting") return true;
		return state === "gone" && (uncountedIn.has(context) || (left === 0 && since >= fullSince));
	});
}

/** What has become of it so far. */
export function ownStateText({ state, since }: PodFacts, now: number): string {
	const elapsed = formatElapsed(now - since);
	if (state === "gone") return `ended ${elapsed} ago`;
	return `${state === "evicting" ? "being evicted" : "terminating"} ${elapsed}`;
}

/** Who is behind it: the verified account beside what somebody calls himself; "" where nobody is known. */
export function holderText({ own, holder, account }: UsedBy): string {
	if (own) return "by this run";
	const verified = account === undefined || account === holder ? "" : holder === undefined ? account : ` (${account})`;
	return holder === undefined && verified === "" ? "" : `by ${holder ?? ""}${verified}`;
}

/** Of members without an answer, as this run calls them. */
export function silenceText(silent: readonly string[]): string {
	return `${silent.join(", ")} ${silent.length === 1 ? "gives" : "give"} no answer`;
}

/** Without what stands in the row already. */
export function shortReason({ namespace, name, wait }: PodFacts): string {
	if (!wait) return "";
	const { message, budget } = wait;
	return message
		.replace(/^error when evicting pods\/.*? \(will retry after [^)]*\): /, "")
		.replace(`pod ${namespace}/${name} `, "")
		.replace(budget === undefined ? "\u0000" : `budget ${budget} `, "");
}

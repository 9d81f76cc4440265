// Describes the pods that use up a budget.
import type { UsedBy } from "../events/events.ts";
import { formatElapsed } from "../flags/duration.ts";
import type { BudgetRow } from "../fleet/budget-table.ts";
import { missingBeside, missingCount, missingPods, missingText } from "../fleet/missing-pods.ts";
import type { BudgetFacts } from "./budget-book.ts";
import type { FrameOptions } from "./frame-options.ts";
import type { PodFacts, RunFacts } from "./run-facts.ts";
import { cut, cutMiddle, widthOf } from "./styled-line.ts";

export function stateText({ why, state }: Pick<UsedBy, "why" | "state">): string {
	if (state !== undefined && state !== "") return state;
	return { Reserved: "being evicted", Terminating: "terminating" }[why] ?? "not ready";
}

/** How long the pod has been in its state. "" if unknown. */
export function sinceText({ sinceSeconds }: Pick<UsedBy, "sinceSeconds">, now: number): string {
	const since = sinceSeconds === undefined ? Number.NaN : sinceSeconds * 1_000;
	return Number.isFinite(since) && since <= now ? formatElapsed(now - since) : "";
}

type BudgetNumbers = Pick<BudgetRow, "need" | "expected"> | Pick<BudgetFacts, "need" | "expected">;

/** Whether the bound allows no eviction, however many pods are healthy. */
export function needsAll({ need, expected }: BudgetNumbers): boolean {
	return need !== undefined && expected !== undefined && expected > 0 && need >= expected;
}

/** For a budget that no pod uses up. "" unless its bound requires all pods. */
export function needsAllText(budget: BudgetNumbers): string {
	return needsAll(budget) ? "none, all pods are required" : "";
}

interface UserTextOptions extends Pick<FrameOptions, "now"> {
	/** In columns. */
	readonly room: number;
}

interface UserParts {
	readonly place: string;
	readonly pod: string;
	readonly state: string;
	readonly since: string;
	readonly others: number;
}

/** Drops the age first, then shortens the state, and the name last. */
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
	// The end of a pod's name is its random and distinctive part.
	return `${columns < 20 ? `..${name.slice(2 - columns)}` : cutMiddle(name, columns)}${more}`;
}

const leastState = 6;
const leastName = 8;

/** For example "us/db-0 terminating 12s +1" or "2 pods missing". "" if no pod uses up the budget. */
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

/**
 * Counts the missing pods that cannot be named. 0 for an unwatched budget that is not used up. For an unwatched budget, excludes pods that
 * this run evicted.
 */
export function missingOf(facts: RunFacts, budget: BudgetFacts): number {
	if (budget.isWatched) return missingBeside(budget, budget.usedBy);
	if (budget.left !== 0) return 0;
	const isTold = ({ context, name }: PodFacts): boolean =>
		budget.usedBy.some(({ cluster, pod }) => pod === name && facts.budgets.contextOf(cluster) === context);
	const own = ownUsers(facts, budget).filter((pod) => !isTold(pod));
	return Math.max(0, missingBeside(budget, budget.usedBy) - own.length);
}

/** Like usersText(), for a budget as the agents report it. */
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
 * Returns this run's pods that are being evicted or have ended, but whose replacements are not counted yet. A current watch reports such
 * pods itself.
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

export function ownStateText({ state, since }: PodFacts, now: number): string {
	const elapsed = formatElapsed(now - since);
	if (state === "gone") return `ended ${elapsed} ago`;
	return `${state === "evicting" ? "being evicted" : "terminating"} ${elapsed}`;
}

/** The holder's claim with the verified account. "" if neither is known. */
export function holderText({ own, holder, account }: UsedBy): string {
	if (own) return "by this run";
	const verified = account === undefined || account === holder ? "" : holder === undefined ? account : ` (${account})`;
	return holder === undefined && verified === "" ? "" : `by ${holder ?? ""}${verified}`;
}

/** `silent`: the members that do not answer, by the names of their contexts, or else of their clusters. */
export function silenceText(silent: readonly string[]): string {
	return `${silent.join(", ")} ${silent.length === 1 ? "gives" : "give"} no answer`;
}

export function shortReason({ namespace, name, wait }: PodFacts): string {
	if (!wait) return "";
	const { message, budget } = wait;
	return message
		.replace(/^error when evicting pods\/.*? \(will retry after [^)]*\): /, "")
		.replace(`pod ${namespace}/${name} `, "")
		.replace(budget === undefined ? "\u0000" : `budget ${budget} `, "");
}

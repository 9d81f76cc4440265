// Judges which budgets cover this version of a pod, and so whether it may be evicted without a round.
//
// Guarantee: a pod is `uncovered` only if every member of the one fleet that all members declare has listed the budgets of its namespace.
// The lists were requested at most a second ago. None of their budgets selects the labels of the version that the eviction names. If the
// pod changes meanwhile, the eviction gets a 409 and the pod is judged again. If no member has a budget in the namespace, labels do not
// matter, and any version may be evicted. Any doubt leads to new requests or to a refusal.
//
// A list has no version that an eviction could name: it may miss a budget that was created after its request. So a list older than a second
// proves nothing. The age of the labels does not matter for safety, because the eviction names their version. Labels older than a second
// are still read again once, because the pod may have changed.
//
// Assumptions: a list is a consistent read that began after it was requested. The API server honours preconditions. `now`, `askedAt` and
// `readAt` come from one monotonic clock, and `askedAt` and `readAt` were taken before the request was sent. A budget that is created in
// the second before the eviction may come too late, like one that is created while the eviction is on its way.
import { formatBudgetName, parseBudgetSpec, type RoundBudget } from "./budget.ts";
import type { MemberBudget } from "./cluster.ts";
import { coveringBudgets } from "./covering.ts";
import { InvalidBudgetError } from "../errors.ts";
import { fleetHash } from "./fleet.ts";

/** The budgets that one member has in the requested namespaces, and the fleet that it declares. */
export interface BudgetsOfMember {
	readonly clusterId: string;
	/** For people only. */
	readonly clusterName: string;
	readonly fleetHash: string;
	readonly budgets: readonly MemberBudget[];
	/** Milliseconds until its answer arrived, for people only. */
	readonly tookMs?: number;
}

/** Lists of all members. `askedAt` is the time before the first of them was requested. */
export interface ListedBudgets {
	readonly askedAt: number;
	readonly namespaces: readonly string[];
	readonly members: readonly BudgetsOfMember[];
}

/** One version of a pod, as the API server returned it. `readAt` is the time before it was requested. */
export interface PodVersion {
	readonly resourceVersion: string;
	readonly labels: Readonly<Record<string, string>>;
	readonly readAt: number;
}

/** Which budgets cover a pod, or why this is unknown. `U` adds fields to `uncovered`. */
export type Covered<U = unknown> =
	/** `resourceVersion` is the only version that may be evicted. If it is left out, any version may be. */
	| ({ readonly kind: "uncovered"; readonly resourceVersion?: string } & U)
	| { readonly kind: "covered"; readonly budgets: readonly RoundBudget[] }
	| ({ readonly kind: "unreadable" } & UnreadableBudget)
	| { readonly kind: "fleetsDiffer"; readonly message: string }
	/** The lists are stale, do not include the pod's namespace, or come from other members. */
	| { readonly kind: "listAgain" }
	| { readonly kind: "readAgain" }
	| { readonly kind: "gone" }
	/** Members took so long to list their budgets that the lists were stale on arrival. */
	| { readonly kind: "tooSlow"; readonly message: string };

/** judgeCoverage() sends no request, so it never finds these two kinds. */
export type CoverageJudgement = Exclude<Covered, { kind: "gone" | "tooSlow" }>;

/** A budget of the pod's namespace whose selector cannot be read. It may cover the pod. */
export interface UnreadableBudget {
	/** NAMESPACE/NAME. */
	readonly budget: string;
	readonly message: string;
}

/** The maximum age of lists and labels, in milliseconds. Older lists prove nothing, and older labels are read again. */
export const coverageFreshForMs = 1_000;

export function judgeCoverage(
	{ namespace, version }: { readonly namespace: string; readonly version: PodVersion },
	listed: ListedBudgets,
	{
		memberIds,
		now,
		triedAt,
	}: {
		readonly memberIds: readonly string[];
		readonly now: number;
		/** When the caller started to judge this pod. A version that was read after this is not read again. */
		readonly triedAt: number;
	},
): CoverageJudgement {
	if (!isFresh(listed.askedAt, now) || !listed.namespaces.includes(namespace)) return { kind: "listAgain" };
	const asked = listed.members.map(({ clusterId }) => clusterId);
	if (asked.toSorted().join() !== memberIds.toSorted().join()) return { kind: "listAgain" };
	const message = findFleetsDiffer(listed.members);
	if (message !== undefined) return { kind: "fleetsDiffer", message };
	const budgets = listed.members.flatMap((member) => member.budgets);
	if (!budgets.some(({ name }) => name.namespace === namespace)) return { kind: "uncovered" };
	if (version.readAt < triedAt && !isFresh(version.readAt, now)) return { kind: "readAgain" };
	const covering = findCovering(budgets, { namespace, labels: version.labels });
	if (covering.unreadable) return { kind: "unreadable", ...covering.unreadable };
	return covering.budgets.length === 0
		? { kind: "uncovered", resourceVersion: version.resourceVersion }
		: { kind: "covered", budgets: covering.budgets };
}

/** Ignores the age of the lists. Returns no budgets if one of them is unreadable. */
export function findCovering(
	budgets: readonly MemberBudget[],
	pod: { readonly namespace: string; readonly labels: Readonly<Record<string, string>> },
): { readonly budgets: readonly RoundBudget[]; readonly unreadable?: UnreadableBudget } {
	const covering = coveringBudgets(budgets, pod);
	const unreadable = covering.find(({ selector }) => !selector);
	if (!unreadable) return { budgets: covering.flatMap(({ name, selector }) => (selector ? [{ name, selector }] : [])) };
	const budget = formatBudgetName(unreadable.name);
	return { budgets: [], unreadable: { budget, message: unreadableMessage(budgets, budget) } };
}

/** Returns the first parse error in the members' specs of this budget. */
function unreadableMessage(budgets: readonly MemberBudget[], name: string): string {
	for (const budget of budgets) {
		if (formatBudgetName(budget.name) !== name) continue;
		try {
			parseBudgetSpec(budget.spec);
		} catch (error) {
			if (error instanceof InvalidBudgetError) return `budget ${name}: ${error.message}`;
			throw error;
		}
	}
	return `budget ${name} cannot be read`;
}

/** Returns why these members are not one fleet, for people. Returns undefined if each of them declares exactly these members. */
export function findFleetsDiffer(
	members: readonly Pick<BudgetsOfMember, "clusterId" | "clusterName" | "fleetHash">[],
): string | undefined {
	const hash = fleetHash(members.map(({ clusterId }) => clusterId));
	const others = members.filter((member) => member.fleetHash !== hash).map(({ clusterName }) => clusterName);
	if (others.length === 0) return undefined;
	return (
		`cluster ${others.join(", ")} declares another fleet than ${members.map(({ clusterName }) => clusterName).join(", ")}: ` +
		"ConfigMap xpdb-fleet must list the same members in every cluster"
	);
}

function isFresh(at: number, now: number): boolean {
	// A time in the future comes from another clock.
	return at <= now && now - at <= coverageFreshForMs;
}

// May this very version of a pod be evicted without a round?
//
// Guarantee: `uncovered` is said only where lists of the budgets of the pod's namespace, one of every member of the one
// fleet that all of them declare, asked for at most a second ago, hold none that selects the labels of the version that
// the eviction will name; whoever changes the pod meanwhile makes it a 409, and it is judged again. Where no member has
// a budget in the namespace, labels cannot matter, and the pod may go in any version. All doubt asks again or refuses.
// How old the labels are does not matter for that, because the version is named; what is older than a second is read anew
// once, as it may be another one by now, and goes then however long the reading took. A list has nothing that could be
// named: whatever was made since it was asked for may be missing in it, so lists that take longer than a second say nothing.
// Assumptions: a list is a consistent read that began after it was asked for; the API server honours preconditions;
// `now`, `askedAt` and `readAt` are of one monotonic clock, and the two latter were taken before the question was sent.
// A budget that is made in the second before the eviction may come too late, as one made while it is on its way.
import { formatBudgetName, type RoundBudget } from "./budget.ts";
import type { MemberBudget } from "./cluster.ts";
import { coveringBudgets } from "./covering.ts";
import { fleetHash } from "./fleet.ts";

/** The budgets that one member has in the namespaces that were asked for, and the fleet that it declares. */
export interface BudgetsOfMember {
	readonly clusterId: string;
	/** For people only. */
	readonly clusterName: string;
	readonly fleetHash: string;
	readonly budgets: readonly MemberBudget[];
	/** How long it took to answer, for people only. */
	readonly tookMs?: number;
}

/** Lists of all members, asked for at once. */
export interface ListedBudgets {
	readonly askedAt: number;
	readonly namespaces: readonly string[];
	readonly members: readonly BudgetsOfMember[];
}

/** One version of a pod, as the API server said it; `readAt`: before it was asked. */
export interface PodVersion {
	readonly resourceVersion: string;
	readonly labels: Readonly<Record<string, string>>;
	readonly readAt: number;
}

export type CoverageJudgement =
	/** `resourceVersion`: the only one that may go; none where any may. */
	| { readonly kind: "uncovered"; readonly resourceVersion?: string }
	| { readonly kind: "covered"; readonly budgets: readonly RoundBudget[] }
	/** A budget of the pod's namespace whose selector nobody can read: it may cover the pod. */
	| { readonly kind: "unreadable"; readonly budget: string }
	| { readonly kind: "fleetsDiffer"; readonly message: string }
	/** Too old to say anything, or of other members. */
	| { readonly kind: "listAgain" }
	| { readonly kind: "readAgain" };

/** What is older says nothing any more of budgets or labels. */
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
		/** Since when who asks has tried to find out: a version that was read since then is read no more. */
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
	return covering.kind === "none" ? { kind: "uncovered", resourceVersion: version.resourceVersion } : covering;
}

/** Which budgets cover the labels; nothing about how old they are. */
export function findCovering(
	budgets: readonly MemberBudget[],
	pod: { readonly namespace: string; readonly labels: Readonly<Record<string, string>> },
): { readonly kind: "none" } | Extract<CoverageJudgement, { kind: "covered" | "unreadable" }> {
	const covering = coveringBudgets(budgets, pod);
	if (covering.length === 0) return { kind: "none" };
	const unreadable = covering.find(({ selector }) => !selector);
	if (unreadable) return { kind: "unreadable", budget: formatBudgetName(unreadable.name) };
	return {
		kind: "covered",
		budgets: covering.flatMap(({ name, selector }) => (selector ? [{ name, selector }] : [])),
	};
}

/** Why these members are not one fleet, for people; undefined where each declares just these. */
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
	// What comes from the future is of another clock.
	return at <= now && now - at <= coverageFreshForMs;
}

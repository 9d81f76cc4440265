// Reads which of the fleet's budgets cover each pod, and their counts. It asks as a round does, but without a Lease, so it writes nothing.
import type { V1Pod } from "@kubernetes/client-node";
import { formatBound, formatBudgetName, type RoundBudget } from "../../disruption/budget/budget.ts";
import type { CandidateState, Count, MemberBudget, PodReference } from "../../disruption/budget/cluster.ts";
import { type BudgetsOfMember, findCovering, findFleetsDiffer } from "../../disruption/budget/coverage-judgement.ts";
import { readSpecs } from "../../disruption/budget/allowance.ts";
import { FleetsDifferError, GarbledLeaseError } from "../../disruption/errors.ts";
import type { AgentCluster } from "../../proto/agent-cluster.ts";
import type { Fleet } from "../fleet/fleet.ts";
import type { NeverPlanned, PlanBudget } from "./drain-plan.ts";

export type Coverage =
	| { readonly kind: "none" }
	| { readonly kind: "covered"; readonly budgets: readonly RoundBudget[] }
	/** The members declare different fleets, or a budget of the namespace is unreadable. */
	| { readonly kind: "never"; readonly never: NeverPlanned };

export interface ClusterPod {
	readonly clusterId: string;
	readonly pod: V1Pod;
}

export interface UncountedBudget {
	readonly never: NeverPlanned;
}

export interface FleetBudgets {
	/** By NAMESPACE/NAME. */
	readonly budgets: ReadonlyMap<string, PlanBudget | UncountedBudget>;
	coverageOf(pod: V1Pod): Coverage;
	stateOf(key: string, pod: V1Pod): CandidateState | undefined;
}

/** The limit of one request. */
const maxCandidates = 500;

/** Rejects with AgentUnavailableError if a member does not answer. */
export async function readFleetBudgets(
	fleet: Pick<Fleet, "members" | "listBudgets">,
	pods: readonly ClusterPod[],
): Promise<FleetBudgets> {
	const namespaces = [...new Set(pods.map(({ pod }) => pod.metadata?.namespace ?? ""))].toSorted();
	const lists = namespaces.length > 0 ? await fleet.listBudgets(namespaces) : [];
	const { members } = fleet;
	const listed = lists.flatMap((member) => member.budgets);
	const differ = findFleetsDiffer(lists);
	const coverages = new Map(
		pods.map(({ pod }): [V1Pod, Coverage] => [
			pod,
			differ === undefined
				? coverage(listed, pod)
				: { kind: "never", never: { reason: "FleetsDiffer", message: differ } },
		]),
	);
	const covered = new Map<string, { readonly budget: RoundBudget; readonly pods: ClusterPod[] }>();
	for (const each of pods) {
		const found = coverages.get(each.pod);
		if (found?.kind !== "covered") continue;
		for (const budget of found.budgets) {
			const key = formatBudgetName(budget.name);
			const entry = covered.get(key) ?? { budget, pods: [] };
			entry.pods.push(each);
			covered.set(key, entry);
		}
	}
	const budgets = new Map<string, PlanBudget | UncountedBudget>();
	const states = new Map<string, ReadonlyMap<string, CandidateState>>();
	await Promise.all(
		[...covered].map(async ([key, { budget, pods: candidates }]) => {
			const counts = await lookAtAll(members, budget, candidates);
			if ("never" in counts) {
				budgets.set(key, counts);
				return;
			}
			const memberIds = members.map(({ id }) => id);
			const bound = boundText(lists, key);
			budgets.set(key, { key, memberIds, bound, counted: { budget, counts } });
			const all = counts.flatMap((count) => count.candidates);
			states.set(key, new Map(all.map((state) => [state.pod.uid, state])));
		}),
	);
	return {
		budgets,
		coverageOf: (pod) => coverages.get(pod) ?? { kind: "none" },
		stateOf: (key, { metadata }) => states.get(key)?.get(metadata?.uid ?? ""),
	};
}

function coverage(budgets: readonly MemberBudget[], { metadata }: V1Pod): Coverage {
	const pod = { namespace: metadata?.namespace ?? "", labels: metadata?.labels ?? {} };
	const { budgets: covering, unreadable } = findCovering(budgets, pod);
	if (unreadable) return { kind: "never", never: { reason: "InvalidBudget", message: unreadable.message } };
	return covering.length > 0 ? { kind: "covered", budgets: covering } : { kind: "none" };
}

async function lookAtAll(
	members: readonly AgentCluster[],
	budget: RoundBudget,
	pods: readonly ClusterPod[],
): Promise<readonly Count[] | UncountedBudget> {
	try {
		return await Promise.all(
			members.map((member) => {
				const candidates = pods.filter(({ clusterId }) => clusterId === member.id).map(({ pod }) => podReference(pod));
				return lookInParts(member, budget, candidates);
			}),
		);
	} catch (error) {
		if (!(error instanceof GarbledLeaseError || error instanceof FleetsDifferError)) throw error;
		return { never: { reason: error.reason, message: error.message } };
	}
}

/** Sends as many requests as the candidates need. */
export async function lookInParts(
	member: Pick<AgentCluster, "look">,
	{ name, selector }: RoundBudget,
	candidates: readonly PodReference[],
): Promise<Count> {
	const count = await member.look({ budget: name, selector, candidates: candidates.slice(0, maxCandidates) });
	if (candidates.length <= maxCandidates) return count;
	const rest = await lookInParts(member, { name, selector }, candidates.slice(maxCandidates));
	return { ...count, candidates: [...count.candidates, ...rest.candidates] };
}

export function podReference({ metadata }: V1Pod): PodReference {
	return { namespace: metadata?.namespace ?? "", name: metadata?.name ?? "", uid: metadata?.uid ?? "" };
}

/** If the members' bounds differ, returns all of them. Leaves out unreadable ones, which are refused elsewhere. */
function boundText(lists: readonly BudgetsOfMember[], key: string): string {
	const texts = lists.flatMap((member) => {
		const read = readSpecs(key, [member]);
		return read.kind === "read" ? read.specs.map(({ spec }) => formatBound(spec.bound)) : [];
	});
	return [...new Set(texts)].join(" and ");
}

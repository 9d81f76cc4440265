// What the fleet's budgets say of these pods now: which cover each of them, and a look at every count. It asks as a round
// does, but for the lease: nothing is acquired, so nothing is written.
import type { V1Pod } from "@kubernetes/client-node";
import { formatBound, formatBudgetName, parseBudgetSpec } from "../../disruption/budget.ts";
import type { CandidateState, Count, MemberBudget, PodReference } from "../../disruption/cluster.ts";
import { findCovering, findFleetsDiffer } from "../../disruption/coverage-judgement.ts";
import type { RoundBudget } from "../../disruption/decide.ts";
import { FleetsDifferError, GarbledLeaseError, InvalidBudgetError } from "../../disruption/errors.ts";
import type { AgentCluster } from "../../proto/agent-cluster.ts";
import { unreadableMessage } from "../fleet/coverage-lists.ts";
import type { Fleet } from "../fleet/fleet.ts";
import type { PlanBudget } from "./drain-plan.ts";

export type Coverage =
	| { readonly kind: "none" }
	| { readonly kind: "covered"; readonly budgets: readonly RoundBudget[] }
	/** A budget of the pod's namespace that nobody can read: it may cover the pod. */
	| { readonly kind: "unreadable"; readonly message: string }
	/** Nobody knows which budgets there are. */
	| { readonly kind: "fleetsDiffer"; readonly message: string };

export interface ClusterPod {
	readonly clusterId: string;
	readonly pod: V1Pod;
}

export interface FleetBudgets {
	/** By key: the budget as it is counted, or why nobody may count it. */
	readonly budgets: ReadonlyMap<string, PlanBudget | { readonly garbled: string }>;
	coverageOf(pod: V1Pod): Coverage;
	/** What the budget's count says of the pod. */
	stateOf(key: string, pod: V1Pod): CandidateState | undefined;
}

/** A look asks for so many pods at most. */
const maxCandidates = 500;

/** Rejects with AgentUnavailableError where a member gives no answer. */
export async function readFleetBudgets(
	{ members, listBudgets }: Pick<Fleet, "members" | "listBudgets">,
	pods: readonly ClusterPod[],
): Promise<FleetBudgets> {
	const namespaces = [...new Set(pods.map(({ pod }) => pod.metadata?.namespace ?? ""))].toSorted();
	const lists = namespaces.length > 0 ? await listBudgets(namespaces) : [];
	const listed = lists.flatMap((member) => member.budgets);
	const differ = findFleetsDiffer(lists);
	const coverages = new Map(
		pods.map(({ pod }): [V1Pod, Coverage] => [
			pod,
			differ === undefined ? coverage(listed, pod) : { kind: "fleetsDiffer", message: differ },
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
	const budgets = new Map<string, PlanBudget | { readonly garbled: string }>();
	const states = new Map<string, ReadonlyMap<string, CandidateState>>();
	await Promise.all(
		[...covered].map(async ([key, { budget, pods: candidates }]) => {
			const counts = await lookAtAll(members, budget, candidates);
			if (typeof counts === "string") {
				budgets.set(key, { garbled: counts });
				return;
			}
			const memberIds = members.map(({ id }) => id);
			const bound = boundText(listed, key);
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
	const covering = findCovering(budgets, pod);
	if (covering.kind !== "unreadable") return covering;
	return { kind: "unreadable", message: unreadableMessage(budgets, covering.budget) };
}

/** The counts of all members; a text where a Lease cannot be read. */
async function lookAtAll(
	members: readonly AgentCluster[],
	budget: RoundBudget,
	pods: readonly ClusterPod[],
): Promise<readonly Count[] | string> {
	try {
		return await Promise.all(
			members.map((member) => {
				const candidates = pods.filter(({ clusterId }) => clusterId === member.id).map(({ pod }) => podReference(pod));
				return look(member, budget, candidates);
			}),
		);
	} catch (error) {
		if (error instanceof GarbledLeaseError || error instanceof FleetsDifferError) return error.message;
		throw error;
	}
}

async function look(
	member: AgentCluster,
	{ name, selector }: RoundBudget,
	candidates: readonly PodReference[],
): Promise<Count> {
	const count = await member.look({ budget: name, selector, candidates: candidates.slice(0, maxCandidates) });
	if (candidates.length <= maxCandidates) return count;
	const rest = await look(member, { name, selector }, candidates.slice(maxCandidates));
	return { ...count, candidates: [...count.candidates, ...rest.candidates] };
}

export function podReference({ metadata }: V1Pod): PodReference {
	return { namespace: metadata?.namespace ?? "", name: metadata?.name ?? "", uid: metadata?.uid ?? "" };
}

/** As its members have it; one that cannot be read refuses elsewhere, by name. */
function boundText(budgets: readonly MemberBudget[], key: string): string {
	const texts = budgets.flatMap(({ name, spec }) => {
		if (formatBudgetName(name) !== key) return [];
		try {
			return [formatBound(parseBudgetSpec(spec).bound)];
		} catch (error) {
			if (error instanceof InvalidBudgetError) return [];
			throw error;
		}
	});
	return [...new Set(texts)].join(" and ");
}

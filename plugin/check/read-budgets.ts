// Reads the fleet's budgets, in all namespaces or in some, and judges each as `explain` does. It also finds pods that a budget never allows
// to be evicted, and workloads whose pods a budget expects but does not select.
import type { V1Pod } from "@kubernetes/client-node";
import { type BudgetName, formatBudgetName } from "../../disruption/budget/budget.ts";
import { findCovering } from "../../disruption/budget/coverage-judgement.ts";
import { decide } from "../../disruption/budget/decide.ts";
import type { Fleet } from "../fleet/fleet.ts";
import { Semaphore } from "../../disruption/round/semaphore.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { isFinished } from "../kubernetes/pod-status.ts";
import type { Candidate } from "../plan/explain/count-budget.ts";
import { judgeBudgetNow, type KnownList, listKnown } from "../plan/explain/explain-budget.ts";
import { podReference } from "../plan/fleet-budgets.ts";
import type { Reading } from "./check-report.ts";
import type { JudgedBudget } from "./judge-budgets.ts";
import { read } from "./read-cluster.ts";

/** Each budget costs a call to every member. */
const budgetsAtOnce = 16;

export interface FleetBudgetFacts {
	/** By the member's name: the number of its budgets, or why it is unknown. */
	readonly perMember: ReadonlyMap<string, Reading<number>>;
	readonly budgets: readonly JudgedBudget[];
	/** By context: its pods in the budgets' namespaces, or why they could not be listed. */
	readonly pods: ReadonlyMap<string, Reading<readonly V1Pod[]>>;
}

export async function readBudgets(
	fleet: Pick<Fleet, "members" | "descriptions" | "memberOf">,
	contexts: readonly KubeContext[],
	{ namespaces, now }: { readonly namespaces: readonly string[]; readonly now: () => number },
): Promise<FleetBudgetFacts> {
	const lists = await listKnown(fleet, namespaces);
	const names = new Map(lists.flatMap(({ budgets }) => budgets.map(({ name }) => [formatBudgetName(name), name])));
	const wanted = [...new Set([...names.values()].map(({ namespace }) => namespace))];
	const pods = new Map(
		await Promise.all(contexts.map(async (context) => [context.name, await listPods(context, wanted)] as const)),
	);
	const covered = coveredPods(fleet, lists, pods);
	const places = new Semaphore(budgetsAtOnce);
	const judge = async (name: BudgetName): Promise<JudgedBudget> => {
		const candidates = covered.get(formatBudgetName(name)) ?? [];
		const { row, findings, counted } = await judgeBudgetNow(fleet, name, lists, { now, candidates });
		const judged = counted ? decide(counted.memberIds, [counted.counted], candidates) : [];
		const ownerless = judged
			.filter(
				(each) =>
					each.kind === "refused" &&
					each.reason === "ExpectedPodsUnknown" &&
					findings.every(({ reason }) => reason !== each.reason),
			)
			.map(({ candidate }) => ({
				cluster: fleet.members.find(({ id }) => id === candidate.clusterId)?.name ?? candidate.clusterId,
				pod: `${candidate.pod.namespace}/${candidate.pod.name}`,
			}));
		const mislabelled = (counted?.counted.counts ?? []).flatMap((count) =>
			(count.mislabelled ?? []).map((workload) => ({ ...workload, cluster: count.clusterName })),
		);
		return { name, row, findings, ownerless, mislabelled, isCounted: counted !== undefined };
	};
	return {
		perMember: new Map(
			fleet.members.map(({ name }): readonly [string, Reading<number>] => {
				const list = lists.find(({ clusterName }) => clusterName === name);
				if (!list) return [name, { kind: "unread", why: "its agent gives no answer" }];
				if (list.problem !== undefined) return [name, { kind: "unread", why: list.problem }];
				return [name, { kind: "read", value: list.budgets.length }];
			}),
		),
		budgets: await Promise.all(
			[...names.keys()].toSorted().flatMap((key) => {
				const name = names.get(key);
				return name ? [places.run(() => judge(name))] : [];
			}),
		),
		pods,
	};
}

async function listPods({ client }: KubeContext, namespaces: readonly string[]): Promise<Reading<readonly V1Pod[]>> {
	return read(
		Promise.all(namespaces.map((namespace) => client.list<V1Pod>(`/api/v1/namespaces/${namespace}/pods`))).then(
			(lists) => lists.flat(),
		),
	);
}

/** Returns the pods that each budget covers, without finished pods. Budgets that cannot be read are left out. */
function coveredPods(
	fleet: Pick<Fleet, "memberOf">,
	lists: readonly KnownList[],
	pods: ReadonlyMap<string, Reading<readonly V1Pod[]>>,
): ReadonlyMap<string, readonly Candidate[]> {
	const budgets = lists.flatMap((list) => list.budgets);
	const found = new Map<string, Candidate[]>();
	for (const [context, listed] of pods) {
		const clusterId = fleet.memberOf(context)?.id;
		if (clusterId === undefined || listed.kind === "unread") continue;
		for (const pod of listed.value) {
			if (isFinished(pod)) continue;
			const reference = podReference(pod);
			const covering = findCovering(budgets, { namespace: reference.namespace, labels: pod.metadata?.labels ?? {} });
			for (const { name } of covering.budgets) {
				const key = formatBudgetName(name);
				found.set(key, [...(found.get(key) ?? []), { clusterId, pod: reference }]);
			}
		}
	}
	return found;
}

// Computes the status of PodDisruptionBudgets, like Kubernetes' pkg/controller/disruption.
import { isRecord } from "../../../disruption/record.ts";
import { type ApiObject, controllerOf, keyOf, listAt, numberAt } from "../api-object.ts";
import { withCondition } from "../conditions.ts";
import { isReady } from "../eviction.ts";
import { selectorOf } from "../selectors.ts";
import { type ControllerHost, controllerName } from "./controller.ts";

const resource = "poddisruptionbudgets.policy";
/** After this time, an evicted pod can count as healthy again if its deletion has not begun. */
const deletionTimeoutMs = 120_000;

export function runDisruptionController(host: ControllerHost): void {
	const { store } = host.core;
	const client = host.as(controllerName("disruption-controller"));

	host.reconcile({
		resources: [resource, "pods", "replicasets.apps", "statefulsets.apps", "deployments.apps"],
		keysOf: ({ resource: changed, object }) =>
			changed === resource
				? [keyOf(object)]
				: store
						.list(resource)
						.filter(({ metadata }) => metadata.namespace === object.metadata.namespace)
						.map(keyOf),
		look(key) {
			const budget = store.find(resource, key);
			if (budget) client.setStatus(resource, budget, statusOf(budget));
		},
	});

	function statusOf(budget: ApiObject) {
		const { namespace, generation = 0 } = budget.metadata;
		const isCovered = selectorOf(budget.spec?.["selector"]);
		const pods = store.list("pods").filter((pod) => pod.metadata.namespace === namespace && isCovered(pod));
		const disruptedPods = stillDisrupted(budget, pods);
		const isHealthy = (pod: ApiObject): boolean =>
			isReady(pod) && pod.metadata.deletionTimestamp === undefined && !(pod.metadata.name in disruptedPods);
		const currentHealthy = pods.filter(isHealthy).length;
		const { expectedPods, desiredHealthy } = wanted(budget, pods);
		const disruptionsAllowed = expectedPods > 0 ? Math.max(0, currentHealthy - desiredHealthy) : 0;
		const counts = { currentHealthy, desiredHealthy, disruptionsAllowed, expectedPods };
		const known = Object.keys(disruptedPods).length > 0 ? { disruptedPods } : {};
		const isAllowed = disruptionsAllowed > 0;
		const conditions = listAt(budget, "status.conditions");
		return withCondition(
			{ ...known, conditions, ...counts, observedGeneration: generation },
			{
				type: "DisruptionAllowed",
				status: isAllowed ? "True" : "False",
				reason: isAllowed ? "SufficientPods" : "InsufficientPods",
				message: "",
			},
		);
	}

	function stillDisrupted(budget: ApiObject, pods: readonly ApiObject[]): Readonly<Record<string, unknown>> {
		const disrupted = budget.status?.["disruptedPods"];
		if (!isRecord(disrupted)) return {};
		const holds = ([name, at]: [string, unknown]): boolean => {
			const pod = pods.find(({ metadata }) => metadata.name === name);
			const age = Date.now() - Date.parse(String(at));
			return pod !== undefined && pod.metadata.deletionTimestamp === undefined && age < deletionTimeoutMs;
		};
		return Object.fromEntries(Object.entries(disrupted).filter(holds));
	}

	function wanted(budget: ApiObject, pods: readonly ApiObject[]) {
		const minAvailable = budget.spec?.["minAvailable"];
		const maxUnavailable = budget.spec?.["maxUnavailable"];
		if (typeof minAvailable === "number") return { expectedPods: pods.length, desiredHealthy: minAvailable };
		const expectedPods = expectedOf(pods);
		if (maxUnavailable !== undefined) {
			return { expectedPods, desiredHealthy: Math.max(0, expectedPods - share(maxUnavailable, expectedPods)) };
		}
		return { expectedPods, desiredHealthy: minAvailable === undefined ? 1 : share(minAvailable, expectedPods) };
	}

	function expectedOf(pods: readonly ApiObject[]): number {
		const scales = new Map<string, number>();
		for (const pod of pods) {
			const owner = controllerOf(pod);
			const type = host.core.types.find(({ kind }) => kind === owner?.kind);
			if (!owner || !type) continue;
			const found = store.find(type.key, `${pod.metadata.namespace ?? ""}/${owner.name}`);
			if (found?.metadata.uid === owner.uid) scales.set(owner.uid, numberAt(found, "spec.replicas") ?? 1);
		}
		return [...scales.values()].reduce((sum, replicas) => sum + replicas, 0);
	}
}

function share(value: unknown, of: number): number {
	if (typeof value === "number") return value;
	return Math.ceil((Number.parseFloat(String(value)) / 100) * of);
}

// The simulated API server as the agent and the plugin call it.
//
// A Carrier takes each call to the server: it decides whether, when and how many times the call is executed and answered. Tests without a
// network use directCarrier.
import type { ClusterApi } from "../../agent/cluster-api/cluster-api.ts";
import type { WorkloadRecord } from "../../agent/cluster-api/workload-record.ts";
import { MissingRightError } from "../../agent/kubernetes/api-refusal.ts";
import type { PodRecord } from "../../disruption/budget/pod.ts";
import { matchesSelector } from "../../disruption/budget/selector.ts";
import type { Evictor } from "../../disruption/round/eviction.ts";
import type { EvictionAnswer } from "../../disruption/round/ticket.ts";
import type { SimulatedApiServer } from "./simulated-api-server.ts";

export { SimulatedApiServer } from "./simulated-api-server.ts";

/** One request. `execute` runs when the request reaches the server: it returns the answer or throws the error. */
export interface ApiCall<T> {
	readonly verb: "get" | "list" | "create" | "update" | "delete" | "patch" | "evict";
	readonly resource: "leases" | "pods" | "budgets" | "fleet" | "scales" | "workloads" | "nodes" | "version";
	/** The name of the object, or its path for a scale. "" for a list, the fleet and the version. */
	readonly name: string;
	/** What else the request contains, for people and for histories. */
	readonly detail?: unknown;
	execute(): T;
}

export type Carrier = <T>(call: ApiCall<T>) => Promise<T>;

const directCarrier: Carrier = async (call) => call.execute();

export function clusterApi(server: SimulatedApiServer, carry: Carrier = directCarrier): ClusterApi {
	const { clusterId } = server;
	return {
		clusterId,
		connection: () => 1,
		getLease: (name) => carry({ verb: "get", resource: "leases", name, execute: () => server.leases.get(name) }),
		createLease: (lease) =>
			carry({
				verb: "create",
				resource: "leases",
				name: lease.name,
				detail: lease,
				execute: () => server.createLease(lease),
			}),
		updateLease: (lease) =>
			carry({
				verb: "update",
				resource: "leases",
				name: lease.name,
				detail: lease,
				execute: () => server.updateLease(lease),
			}),
		deleteLease: ({ name, uid, resourceVersion }) =>
			carry({
				verb: "delete",
				resource: "leases",
				name,
				detail: { uid, resourceVersion },
				execute: () => server.deleteLease(name, { uid, resourceVersion }),
			}),
		listLeases: (options) =>
			carry({ verb: "list", resource: "leases", name: "", detail: options, execute: () => server.listLeases(options) }),
		getBudget: (name) =>
			carry({ verb: "get", resource: "budgets", name: keyOf(name), execute: () => server.budgets.get(keyOf(name)) }),
		listBudgets: (namespace) =>
			carry({ verb: "list", resource: "budgets", name: "", execute: () => server.listBudgets(namespace) }),
		getFleet: () => carry({ verb: "get", resource: "fleet", name: "", execute: () => server.fleet }),
		getPod: async (pod) => {
			const found = await carry({ verb: "get", resource: "pods", name: keyOf(pod), execute: () => server.getPod(pod) });
			return found.kind === "present" ? { ...found, pod: server.seenPod(found.pod) } : found;
		},
		listSelectedPods: async (namespace, selector) => {
			const { pods, resourceVersion } = await listAllPods(server, carry);
			const isSelected = (pod: PodRecord): boolean =>
				pod.namespace === namespace && matchesSelector(selector, pod.labels);
			return { pods: pods.filter(isSelected), resourceVersion };
		},
		touchPod: (pod, value) =>
			carry({
				verb: "patch",
				resource: "pods",
				name: keyOf(pod),
				detail: value,
				execute: () => server.touchPod(pod, value),
			}),
		markPendingDisruption: (pod) =>
			carry({ verb: "patch", resource: "pods", name: keyOf(pod), execute: () => server.markPendingDisruption(pod) }),
		listWorkloads: (namespace) =>
			carry({ verb: "list", resource: "workloads", name: "", execute: () => listedWorkloads(server, namespace) }),
		getScale: (controller, namespace) =>
			carry({
				verb: "get",
				resource: "scales",
				name: keyOf({ namespace, name: controller.name }),
				execute: () => server.getScale(controller, namespace),
			}),
	};
}

/** The list with which a watch on all pods begins. */
export async function listAllPods(
	server: SimulatedApiServer,
	carry: Carrier,
): Promise<{ readonly pods: readonly PodRecord[]; readonly resourceVersion: string }> {
	const list = await carry({ verb: "list", resource: "pods", name: "", execute: () => server.listPods() });
	return { ...list, pods: list.pods.map(server.seenPod) };
}

function listedWorkloads({ workloads, clusterId }: SimulatedApiServer, namespace: string): readonly WorkloadRecord[] {
	if (workloads.forbidsLists) throw new MissingRightError("workloads may not be listed", clusterId);
	return workloads.list(namespace);
}

/** If a call fails, it is unknown whether the request was executed. */
export function simulatedEvictor(server: SimulatedApiServer, carry: Carrier = directCarrier): Evictor<string> {
	return {
		async evict(pod, preconditions, _id, guard) {
			if (!guard()) return { kind: "notSent" };
			const name = keyOf(pod);
			try {
				return await carry<EvictionAnswer<string>>({
					verb: "evict",
					resource: "pods",
					name,
					detail: preconditions,
					execute: () => server.evict(pod, preconditions),
				});
			} catch (error) {
				return { kind: "unknown", error };
			}
		},
		async read(pod) {
			const found = await carry({ verb: "get", resource: "pods", name: keyOf(pod), execute: () => server.getPod(pod) });
			if (found.kind === "gone" || found.pod.uid !== pod.uid) return undefined;
			const { terminating: isTerminating, resourceVersion, labels, preActivities } = found.pod;
			return { isTerminating, resourceVersion, labels, preActivities };
		},
	};
}

function keyOf({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
	return `${namespace}/${name}`;
}

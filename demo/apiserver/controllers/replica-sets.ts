// Runs ReplicaSets: creates or deletes pods to match the wanted number.
import { type ApiObject, controllerOf, keyOf, numberAt, textAt } from "../api-object.ts";
import { isReady } from "../eviction.ts";
import { type ControllerHost, controllerName } from "./controller.ts";
import { isActive, podFromTemplate } from "./pod-template.ts";

const resource = "replicasets.apps";

export function runReplicaSetController(host: ControllerHost): void {
	const { store } = host.core;
	const client = host.as(controllerName("replicaset-controller"));

	host.reconcile({
		resources: [resource, "pods"],
		keysOf({ resource: changed, object }) {
			if (changed === resource) return [keyOf(object)];
			const owner = controllerOf(object);
			return owner?.kind === "ReplicaSet" ? [`${object.metadata.namespace ?? ""}/${owner.name}`] : [];
		},
		look(key) {
			const set = store.find(resource, key);
			if (!set) return;
			const { namespace = "", uid, generation = 0 } = set.metadata;
			const owned = store.list("pods").filter((pod) => controllerOf(pod)?.uid === uid);
			const active = owned.filter(isActive);
			if (set.metadata.deletionTimestamp === undefined) scale(set, active, namespace);
			const ready = active.filter(isReady).length;
			client.setStatus(resource, set, {
				replicas: active.length,
				fullyLabeledReplicas: active.length,
				readyReplicas: ready,
				availableReplicas: ready,
				observedGeneration: generation,
			});
		},
	});

	function scale(set: ApiObject, active: readonly ApiObject[], namespace: string): void {
		const wanted = numberAt(set, "spec.replicas") ?? 1;
		for (let count = active.length; count < wanted; count++) {
			client.create("pods", namespace, podFromTemplate(set, { generateName: `${set.metadata.name}-` }));
		}
		const rank = (pod: ApiObject): number => (textAt(pod, "spec.nodeName") === "" ? 0 : isReady(pod) ? 2 : 1);
		const excess = active.toSorted((a, b) => rank(a) - rank(b)).slice(0, Math.max(0, active.length - wanted));
		for (const pod of excess) client.remove("pods", pod);
	}
}

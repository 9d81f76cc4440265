// Runs StatefulSets: creates the pods NAME-0, NAME-1 and so on, and recreates each under the same name once it is gone.
import { type ApiObject, controllerOf, keyOf, numberAt, textAt } from "../api-object.ts";
import { isReady } from "../eviction.ts";
import { type ControllerHost, controllerName } from "./controller.ts";
import { isActive, isFinished, podFromTemplate } from "./pod-template.ts";

const resource = "statefulsets.apps";

export function runStatefulSetController(host: ControllerHost): void {
	const { store } = host.core;
	const client = host.as(controllerName("statefulset-controller"));

	host.reconcile({
		resources: [resource, "pods"],
		keysOf({ resource: changed, object }) {
			if (changed === resource) return [keyOf(object)];
			const owner = controllerOf(object);
			return owner?.kind === "StatefulSet" ? [`${object.metadata.namespace ?? ""}/${owner.name}`] : [];
		},
		look(key) {
			const set = store.find(resource, key);
			if (!set) return;
			const owned = store.list("pods").filter((pod) => controllerOf(pod)?.uid === set.metadata.uid);
			if (set.metadata.deletionTimestamp === undefined) scale(set, owned);
			const active = owned.filter(isActive);
			const ready = active.filter(isReady).length;
			// There is only one revision: a changed template affects only new pods.
			const revision = `${set.metadata.name}-1`;
			client.setStatus(resource, set, {
				currentRevision: revision,
				updateRevision: revision,
				observedGeneration: set.metadata.generation ?? 0,
				replicas: active.length,
				readyReplicas: ready,
				availableReplicas: ready,
				currentReplicas: active.length,
				updatedReplicas: active.length,
			});
		},
	});

	function scale(set: ApiObject, owned: readonly ApiObject[]): void {
		const { namespace = "", name } = set.metadata;
		const wanted = numberAt(set, "spec.replicas") ?? 1;
		const isParallel = textAt(set, "spec.podManagementPolicy") === "Parallel";
		for (let ordinal = 0; ordinal < wanted; ordinal++) {
			const podName = `${name}-${ordinal}`;
			const pod = store.find("pods", `${namespace}/${podName}`);
			if (!pod) {
				const labels = {
					"statefulset.kubernetes.io/pod-name": podName,
					"apps.kubernetes.io/pod-index": String(ordinal),
				};
				client.create("pods", namespace, podFromTemplate(set, { name: podName, labels }));
			} else if (isFinished(pod) && isActiveOwner(pod, set)) client.remove("pods", pod);
			// Pods start in order: each waits for the one before.
			if (!isParallel && !(pod && isReady(pod) && isActive(pod))) return;
		}
		const excess = owned.filter((pod) => ordinalOf(pod) >= wanted && isActive(pod));
		for (const pod of isParallel ? excess : excess.slice(-1)) client.remove("pods", pod);
	}
}

function isActiveOwner(pod: ApiObject, set: ApiObject): boolean {
	return controllerOf(pod)?.uid === set.metadata.uid && pod.metadata.deletionTimestamp === undefined;
}

function ordinalOf({ metadata }: ApiObject): number {
	return Number(/-(\d+)$/.exec(metadata.name)?.[1] ?? -1);
}

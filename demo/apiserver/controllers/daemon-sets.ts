// Runs DaemonSets: one pod on every node that matches the nodeSelector, cordoned or not.
import { isRecord } from "../../../disruption/record.ts";
import { type ApiObject, controllerOf, keyOf } from "../api-object.ts";
import { isReady } from "../eviction.ts";
import { type ControllerHost, controllerName } from "./controller.ts";
import { isActive, podFromTemplate } from "./pod-template.ts";

const resource = "daemonsets.apps";

export function runDaemonSetController(host: ControllerHost): void {
	const { store } = host.core;
	const client = host.as(controllerName("daemon-set-controller"));

	host.reconcile({
		resources: [resource, "pods", "nodes"],
		keysOf({ resource: changed, object }) {
			if (changed === resource) return [keyOf(object)];
			if (changed === "nodes") return store.list(resource).map(keyOf);
			const owner = controllerOf(object);
			return owner?.kind === "DaemonSet" ? [`${object.metadata.namespace ?? ""}/${owner.name}`] : [];
		},
		look(key) {
			const set = store.find(resource, key);
			if (!set) return;
			const { namespace = "", uid, name, generation = 0 } = set.metadata;
			const nodes = store.list("nodes").filter((node) => isFor(set, node));
			const owned = store.list("pods").filter((pod) => controllerOf(pod)?.uid === uid);
			if (set.metadata.deletionTimestamp === undefined) {
				// A terminating pod occupies its node until it is gone.
				const taken = new Set(owned.map((pod) => pod.spec?.["nodeName"]));
				for (const node of nodes.filter(({ metadata }) => !taken.has(metadata.name))) {
					const pod = podFromTemplate(set, { generateName: `${name}-` });
					const spec = isRecord(pod["spec"]) ? pod["spec"] : {};
					client.create("pods", namespace, { ...pod, spec: { ...spec, nodeName: node.metadata.name } });
				}
			}
			const active = owned.filter(isActive);
			client.setStatus(resource, set, {
				currentNumberScheduled: active.length,
				numberMisscheduled: 0,
				desiredNumberScheduled: nodes.length,
				numberReady: active.filter(isReady).length,
				observedGeneration: generation,
			});
		},
	});
}

function isFor(set: ApiObject, node: ApiObject): boolean {
	const template = set.spec?.["template"];
	const spec = isRecord(template) ? template["spec"] : undefined;
	const selector = isRecord(spec) ? spec["nodeSelector"] : undefined;
	const labels: Readonly<Record<string, unknown>> = node.metadata.labels ?? {};
	return Object.entries(isRecord(selector) ? selector : {}).every(([key, value]) => labels[key] === value);
}

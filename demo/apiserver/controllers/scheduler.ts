// Schedules pods onto the ready, uncordoned node with the fewest pods of the same controller, and then with the fewest pods.
import { type ApiObject, controllerOf, keyOf, listAt, textAt, valueAt } from "../api-object.ts";
import { withCondition } from "../conditions.ts";
import type { ControllerHost } from "./controller.ts";

const schedulerName = "default-scheduler";

export function runScheduler(host: ControllerHost): void {
	const { store } = host.core;
	const client = host.as("system:kube-scheduler", ["system:authenticated"]);
	const isWaiting = (pod: ApiObject): boolean =>
		textAt(pod, "spec.nodeName") === "" &&
		textAt(pod, "spec.schedulerName") === schedulerName &&
		pod.metadata.deletionTimestamp === undefined;

	host.reconcile({
		resources: ["pods", "nodes"],
		keysOf: ({ type, resource, object }) =>
			// As in Kubernetes, a changed node or a removed pod makes the scheduler retry every waiting pod.
			resource === "nodes" || type === "DELETED" ? store.list("pods").filter(isWaiting).map(keyOf) : [keyOf(object)],
		look(key) {
			const pod = store.find("pods", key);
			if (!pod || !isWaiting(pod)) return;
			const node = choose(pod);
			if (node) {
				const status = withCondition(pod.status ?? {}, { type: "PodScheduled", status: "True" });
				const bound = client.update("pods", { ...pod, spec: { ...pod.spec, nodeName: node.metadata.name } });
				client.setStatus("pods", bound, status);
				return;
			}
			const why = { reason: "Unschedulable", message: "no node takes pods" };
			client.setStatus("pods", pod, withCondition(pod.status ?? {}, { type: "PodScheduled", status: "False", ...why }));
		},
	});

	function choose(pod: ApiObject): ApiObject | undefined {
		const owner = controllerOf(pod)?.uid;
		const load = (node: ApiObject): number => {
			const there = store.list("pods").filter((each) => textAt(each, "spec.nodeName") === node.metadata.name);
			const own = there.filter((each) => owner !== undefined && controllerOf(each)?.uid === owner);
			return own.length * 1_000 + there.length;
		};
		return store
			.list("nodes")
			.filter(takesPods)
			.map((node) => ({ node, load: load(node) }))
			.toSorted((a, b) => a.load - b.load)[0]?.node;
	}
}

function takesPods(node: ApiObject): boolean {
	const isReady = listAt(node, "status.conditions").some(({ type, status }) => type === "Ready" && status === "True");
	return isReady && valueAt(node, "spec.unschedulable") !== true;
}

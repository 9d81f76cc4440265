// A simulated pod as agents get it: an object of the API server, read by the shipped projection.
import { createPodProjection } from "../../agent/cluster-api/pod-projection.ts";
import { type PodRecord, preActivityPrefix } from "../../disruption/budget/pod.ts";

/** Returns a function that reads pods for the agents of one cluster. Each version of a pod is read once for all agents. */
export function projectedPods(): (pod: PodRecord) => PodRecord {
	const project = createPodProjection();
	const projected = new WeakMap<PodRecord, PodRecord>();
	return (pod) => {
		let record = projected.get(pod);
		if (!record) projected.set(pod, (record = project(podObject(pod))));
		return record;
	};
}

/**
 * Returns the phase of a pod that has started. A finished pod that still reports Ready was marked as failed by the pod garbage collector.
 */
export function phaseOf({ finished, ready }: Pick<PodRecord, "finished" | "ready">): string {
	if (!finished) return "Running";
	return ready ? "Failed" : "Succeeded";
}

export function preActivityAnnotations({ preActivities }: Pick<PodRecord, "preActivities">): Record<string, string> {
	return Object.fromEntries(preActivities.map((activity) => [`${preActivityPrefix}${activity}`, ""]));
}

export function podObject(pod: PodRecord): object {
	const { uid, name, namespace, resourceVersion, labels, node, controller, ready, terminating, finished } = pod;
	return {
		metadata: {
			uid,
			name,
			namespace,
			resourceVersion,
			labels,
			annotations: preActivityAnnotations(pod),
			...(terminating && { deletionTimestamp: "2023-11-14T22:13:20Z" }),
			...(controller && { ownerReferences: [{ ...controller, controller: true }] }),
		},
		spec: { ...(node !== "" && { nodeName: node }) },
		status: {
			phase: phaseOf({ finished, ready }),
			conditions: [{ type: "Ready", status: ready ? "True" : "False" }],
		},
	};
}

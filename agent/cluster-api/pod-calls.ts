// Lists, reads and touches pods through the API server. All writes go through pods/status, so that the agent needs no right to write pods.
import type { PodReference } from "../../disruption/budget/cluster.ts";
import { AgentUnavailableError } from "../../disruption/errors.ts";
import type { PodRecord } from "../../disruption/budget/pod.ts";
import { formatSelector, matchesSelector } from "../../disruption/budget/selector.ts";
import { isRecord } from "../../disruption/record.ts";
import type { ApiAsker, AskOptions } from "../kubernetes/api-asker.ts";
import type { ApiAnswer } from "../kubernetes/api-connection.ts";
import { isMissingObject } from "../kubernetes/api-refusal.ts";
import { objectMeta } from "../kubernetes/kubernetes-objects.ts";
import { type ListedResource, listPaged } from "../kubernetes/paged-list.ts";
import type { ClusterApi, PodRead } from "./cluster-api.ts";

export const allPods: ListedResource = { name: "pods", path: "/api/v1/pods", resource: "pods", group: "" };

const cancelledCondition = "xpdb.form3.tech/ReservationCancelled";
/** In characters. With a longer selector, all pods of the namespace are listed. */
const longestLabelSelector = 4_000;
const pendingDisruptionAnnotation = "xpdb.form3.tech/has-pending-disruption";

export function createPodCalls(
	asker: ApiAsker,
	project: (pod: unknown) => PodRecord,
): Pick<ClusterApi, "listSelectedPods" | "getPod" | "touchPod" | "markPendingDisruption"> {
	async function getPod({ namespace, name }: Pick<PodReference, "namespace" | "name">): Promise<PodRead> {
		const options: AskOptions = {
			method: "GET",
			path: podPath(namespace, name),
			what: `read pod "${namespace}/${name}"`,
			verb: "get",
			resource: "pods",
			group: "",
			namespace,
		};
		const answer = await asker.ask(options, 404);
		if (isMissingObject(answer, name)) return { kind: "gone" };
		if (answer.status === 404) throw asker.refusal(answer, options);
		return { kind: "present", pod: asker.read(options, () => project(answer.body)) };
	}

	/** Patches the status of the pod with this uid. Returns undefined if no pod with this uid exists any more. */
	async function patchStatus(
		pod: PodReference,
		patch: Pick<AskOptions, "body" | "contentType" | "what">,
	): Promise<{ readonly answer: ApiAnswer; readonly options: AskOptions } | undefined> {
		const { namespace, name } = pod;
		const options: AskOptions = {
			method: "PATCH",
			path: `${podPath(namespace, name)}/status`,
			...patch,
			verb: "patch",
			resource: "pods/status",
			group: "",
			namespace,
		};
		const answer = await asker.ask(options, 404, 409, 422);
		if (answer.status < 300) return { answer, options };
		if (isMissingObject(answer, name)) return undefined;
		if (answer.status === 404) throw asker.refusal(answer, options);
		// If the pod has another uid, the answer is "field is immutable" (422) or a conflict. Other errors have the same status, so only
		// reading the pod tells them apart.
		const found = await getPod(pod);
		if (found.kind === "gone" || found.pod.uid !== pod.uid) return undefined;
		throw asker.refusal(answer, options);
	}

	return {
		async listSelectedPods(namespace, selector) {
			const labelSelector = formatSelector(selector);
			const resource: ListedResource = {
				...allPods,
				path: `/api/v1/namespaces/${namespace}/pods`,
				namespace,
				// A longer one might not fit into the headers of a request.
				...(labelSelector !== "" && labelSelector.length <= longestLabelSelector && { labelSelector }),
			};
			const { objects, resourceVersion } = await listPaged(asker, resource, project);
			return { pods: objects.filter(({ labels }) => matchesSelector(selector, labels)), resourceVersion };
		},
		getPod,
		async touchPod(pod, value) {
			const what = `touch pod "${pod.namespace}/${pod.name}"`;
			const condition = {
				type: cancelledCondition,
				status: "True",
				reason: "ReservationCancelled",
				message: value,
				lastTransitionTime: new Date().toISOString().replace(/\.[0-9]+Z$/, "Z"),
			};
			const { versions } = asker.connection;
			const mark = versions.mark(allPods.name);
			const patched = await patchStatus(pod, {
				// A strategic merge patch merges conditions by type, so no other condition is lost.
				contentType: "application/strategic-merge-patch+json",
				body: { metadata: { uid: pod.uid }, status: { conditions: [condition] } },
				what,
			});
			if (!patched) return { kind: "gone" };
			const { answer, options } = patched;
			if (!hasCondition(answer.body, value)) {
				// An admission webhook removed it. The version may then be unchanged, and a late eviction could still succeed.
				throw new AgentUnavailableError(
					`cannot ${what} in cluster "${asker.connection.cluster}": the API server left out condition ${cancelledCondition}`,
					asker.connection.cluster,
				);
			}
			const { resourceVersion } = asker.read(options, () => objectMeta(answer.body));
			versions.written(mark, resourceVersion);
			return { kind: "touched", resourceVersion };
		},
		async markPendingDisruption(pod) {
			await patchStatus(pod, {
				contentType: "application/merge-patch+json",
				body: { metadata: { uid: pod.uid, annotations: { [pendingDisruptionAnnotation]: "true" } } },
				what: `mark pod "${pod.namespace}/${pod.name}" for its disruption`,
			});
		},
	};
}

function hasCondition(pod: unknown, value: string): boolean {
	const status = isRecord(pod) ? pod["status"] : undefined;
	const conditions = isRecord(status) ? status["conditions"] : undefined;
	if (!Array.isArray(conditions)) return false;
	return conditions.some(
		(condition: unknown) =>
			isRecord(condition) && condition["type"] === cancelledCondition && condition["message"] === value,
	);
}

function podPath(namespace: string, name: string): string {
	return `/api/v1/namespaces/${namespace}/pods/${name}`;
}

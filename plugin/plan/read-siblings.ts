// Reads a few more pods of the same templates to learn how long a start takes. The pods of the drained nodes may have restarted or lost
// their readiness together.
import type { V1Pod } from "@kubernetes/client-node";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { isStartKnown, templateOf } from "./pod-starts.ts";

/** A better estimate is not worth more requests. */
const mostTemplates = 20;
const podsOfEach = 10;

/** Leaves out pods that cannot be read: their start time is then assumed. */
export async function readSiblings({ client }: KubeContext, pods: readonly V1Pod[]): Promise<readonly V1Pod[]> {
	const byTemplate = Map.groupBy(pods, (pod) => templateOf(pod) ?? "");
	const unknown = [...byTemplate].flatMap(([template, [pod]]) => {
		const selector = pod && selectorOf(pod);
		return template === "" || !pod || selector === undefined || isStartKnown(pod, pods)
			? []
			: [{ template, pod, selector }];
	});
	const lists = unknown.slice(0, mostTemplates).map(async ({ template, pod, selector }) => {
		const namespace = pod.metadata?.namespace ?? "";
		const query = { labelSelector: selector, chunkSize: podsOfEach, isEnough: () => true };
		const found = await client.list<V1Pod>(`/api/v1/namespaces/${namespace}/pods`, query).catch(() => []);
		return found.filter((each) => templateOf(each) === template);
	});
	return (await Promise.all(lists)).flat();
}

function selectorOf({ metadata }: V1Pod): string | undefined {
	const label = ["pod-template-hash", "controller-revision-hash"].find(
		(name) => metadata?.labels?.[name] !== undefined,
	);
	return label && `${label}=${metadata?.labels?.[label]}`;
}

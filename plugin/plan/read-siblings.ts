// Reads a few further pods of the same templates, which may be on other nodes. They show how long a start takes if the pods of the drained
// nodes do not. The latter may have restarted, or may have lost their readiness together when their node was away.
import type { V1Pod } from "@kubernetes/client-node";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { isStartKnown, templateOf } from "./pod-starts.ts";

/** The most templates to ask for: a better estimate is not worth more requests. */
const mostTemplates = 20;
const podsOfEach = 10;

/** Pods that cannot be read are left out. The estimate then uses assumed times. */
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

// Finds the pods of a node that a drain evicts: lists them as kubectl does, and then filters them.
import type { V1Pod } from "@kubernetes/client-node";
import { ApiError, errorText, isNotFound } from "../kubernetes/api-error.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import type { NodeTarget } from "../nodes/node-target.ts";
import { type FilteredPods, type FilterOptions, filterPods } from "./pod-filters.ts";

export interface PodQuery extends FilterOptions {
	readonly podSelector: string;
	readonly chunkSize: number;
}

/** `now` is in milliseconds since the epoch. */
export async function podsToTake(node: NodeTarget, options: PodQuery, now: number): Promise<FilteredPods> {
	const pods = await node.context.client.list<V1Pod>("/api/v1/pods", {
		fieldSelector: `spec.nodeName=${node.name}`,
		labelSelector: options.podSelector,
		chunkSize: options.chunkSize,
	});
	return filterIn(node.context, pods, options, now);
}

/** `now` is in milliseconds since the epoch. */
export function filterIn(
	context: KubeContext,
	pods: readonly V1Pod[],
	options: FilterOptions,
	now: number,
): Promise<FilteredPods> {
	return filterPods(pods, options, { now, findDaemonSet: createDaemonSetFinder(context) });
}

/** Returns a function that reads each DaemonSet only once. */
function createDaemonSetFinder({ client }: KubeContext) {
	const known = new Map<string, ReturnType<typeof find>>();
	async function find(namespace: string, name: string) {
		try {
			await client.get(`/apis/apps/v1/namespaces/${namespace}/daemonsets/${encodeURIComponent(name)}`);
			return { kind: "found" } as const;
		} catch (error) {
			if (!(error instanceof ApiError)) throw error;
			return { kind: isNotFound(error) ? "notFound" : "failed", message: errorText(error) } as const;
		}
	}
	return (namespace: string, name: string): ReturnType<typeof find> => {
		const key = `${namespace}/${name}`;
		const answer = known.get(key) ?? find(namespace, name);
		known.set(key, answer);
		return answer;
	};
}

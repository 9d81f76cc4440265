// The pods that evict is asked for: POD, TYPE/NAME of their workload, or a selector.
import type { V1Pod } from "@kubernetes/client-node";
import { InvalidBudgetError } from "../../disruption/errors.ts";
import { type ControllerReference, controllerOf } from "../../disruption/pod.ts";
import { quote } from "../../disruption/quote.ts";
import { formatSelector, parseLabelSelector } from "../../disruption/selector.ts";
import { nearest } from "../flags/nearest.ts";
import { ApiError, isNotFound } from "../kubernetes/api-error.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import {
	absentContextHint,
	type LostContext,
	SearchedContexts,
	searchForOne,
	splitContext,
} from "../nodes/find-in-contexts.ts";
import { readResourceArgument, requirePathSegment } from "../nodes/resource-argument.ts";
import { UsageError } from "../terminal/errors.ts";

export interface PodTarget {
	readonly context: KubeContext;
	readonly pod: V1Pod;
}

interface Workload {
	readonly metadata?: { readonly uid?: string };
	readonly spec?: { readonly selector?: unknown };
}

/** Path of the API group, plural, and whether pods are owned through a ReplicaSet in between. */
interface WorkloadType {
	readonly names: readonly string[];
	readonly path: string;
	readonly plural: string;
}

const workloadTypes: readonly WorkloadType[] = [
	{ names: ["deployment", "deployments", "deploy", "deployments.apps"], path: "/apis/apps/v1", plural: "deployments" },
	{ names: ["statefulset", "statefulsets", "sts", "statefulsets.apps"], path: "/apis/apps/v1", plural: "statefulsets" },
	{ names: ["replicaset", "replicasets", "rs", "replicasets.apps"], path: "/apis/apps/v1", plural: "replicasets" },
	{ names: ["daemonset", "daemonsets", "ds", "daemonsets.apps"], path: "/apis/apps/v1", plural: "daemonsets" },
	{
		names: ["replicationcontroller", "replicationcontrollers", "rc"],
		path: "/api/v1",
		plural: "replicationcontrollers",
	},
	{ names: ["job", "jobs", "jobs.batch"], path: "/apis/batch/v1", plural: "jobs" },
];
const podTypes = ["pod", "pods", "po"];

export interface PodQuery {
	readonly words: readonly string[];
	readonly selector: string;
	readonly allNamespaces: boolean;
}

export interface ResolvedPods {
	readonly pods: readonly PodTarget[];
	/** Contexts whose pods are not among them, because their API servers give no answer. */
	readonly lost: readonly LostContext[];
}

/**
 * Each pod once, in the order given; every word names something that exists. Throws ConnectionError where nothing is found in the
 * contexts that answer, and one does not.
 */
export async function resolvePods(contexts: readonly KubeContext[], query: PodQuery): Promise<ResolvedPods> {
	const found: PodTarget[] = [];
	const searched = new SearchedContexts(contexts);
	if (!query.allNamespaces) for (const { namespace } of contexts) requirePathSegment("namespace", namespace);
	if (query.selector !== "") {
		const lists = await Promise.all(
			contexts.map((context) =>
				searched.search(context, async () => {
					const path = query.allNamespaces ? "/api/v1/pods" : `/api/v1/namespaces/${context.namespace}/pods`;
					const pods = await context.client.list<V1Pod>(path, { labelSelector: query.selector });
					return pods.map((pod) => ({ context, pod }));
				}),
			),
		);
		found.push(...lists.flatMap((list) => list ?? []));
	}
	for (const text of query.words) found.push(...(await resolveWord(text, searched)));
	const left = searched.settle(found);
	const pods = [
		...new Map(left.map((target) => [`${target.context.name} ${target.pod.metadata?.uid}`, target])).values(),
	];
	return { pods, lost: searched.lost };
}

async function resolveWord(text: string, searched: SearchedContexts): Promise<readonly PodTarget[]> {
	const contexts = searched.all;
	const word = splitContext(text, contexts);
	const absent = absentContextHint(word.rest, contexts);
	const { type: named, name: rest } = readResourceArgument(word.rest, absent ?? contextHint(contexts));
	if (named === undefined || podTypes.includes(named)) {
		const hit = await searchForOne({ ...word, rest }, searched, "pod", (place, podName) =>
			place.client.get<V1Pod>(`/api/v1/namespaces/${place.namespace}/pods/${encodeURIComponent(podName)}`),
		);
		return hit ? [{ context: hit.context, pod: hit.found }] : [];
	}
	const type = workloadTypes.find(({ names }) => names.includes(named.toLowerCase()));
	if (!type) {
		if (absent !== undefined) throw new UsageError(`${quote(named)} is not a type that has pods`, absent);
		throw unknownType(text, named, contexts);
	}
	const hit = await searchForOne({ ...word, type: named, rest }, searched, named, (place, name) =>
		place.client.get<Workload>(`${type.path}/namespaces/${place.namespace}/${type.plural}/${encodeURIComponent(name)}`),
	);
	if (!hit) return [];
	const { context, found: workload } = hit;
	const pods = await searched.search(context, () => podsOf(context, workload, type));
	return (pods ?? []).map((pod) => ({ context, pod }));
}

/** The pods that the workload controls, itself or through ReplicaSets; what its selector matches by chance is left out. */
async function podsOf(context: KubeContext, workload: Workload, type: WorkloadType): Promise<readonly V1Pod[]> {
	const { client, namespace } = context;
	const pods = await client.list<V1Pod>(`/api/v1/namespaces/${namespace}/pods`, {
		labelSelector: selectorText(workload, type),
	});
	const uid = workload.metadata?.uid;
	if (type.plural !== "deployments") return pods.filter((pod) => controllerOf(pod)?.uid === uid);
	const owners = new Map<string, boolean>();
	for (const pod of pods) {
		const owner = controllerOf(pod);
		if (owner?.kind !== "ReplicaSet" || owners.has(owner.uid)) continue;
		owners.set(owner.uid, (await deploymentOf(context, owner)) === uid);
	}
	return pods.filter((pod) => owners.get(controllerOf(pod)?.uid ?? "") ?? false);
}

async function deploymentOf(
	{ client, namespace }: KubeContext,
	owner: ControllerReference,
): Promise<string | undefined> {
	try {
		const path = `/apis/apps/v1/namespaces/${namespace}/replicasets/${encodeURIComponent(owner.name)}`;
		return controllerOf(await client.get<V1Pod>(path))?.uid;
	} catch (error) {
		if (isNotFound(error)) return undefined;
		throw error;
	}
}

function selectorText(workload: Workload, type: WorkloadType): string {
	// A ReplicationController has a plain map of labels.
	const selector =
		type.plural === "replicationcontrollers" ? { matchLabels: workload.spec?.selector } : workload.spec?.selector;
	try {
		return formatSelector(parseLabelSelector(selector, "spec.selector"));
	} catch (error) {
		if (error instanceof InvalidBudgetError) throw new UsageError(error.message);
		throw error;
	}
}

function contextHint(contexts: readonly KubeContext[]): string | undefined {
	if (contexts.length < 2) return undefined;
	return `Write NAME, TYPE/NAME or CONTEXT/TYPE/NAME with one of the contexts ${contexts.map(({ name }) => name).join(", ")}`;
}

function unknownType(text: string, type: string, contexts: readonly KubeContext[]): Error {
	const near = nearest(type, [
		...podTypes,
		...workloadTypes.flatMap(({ names }) => names),
		...contexts.map(({ name }) => name),
	]);
	if (contexts.length > 1) {
		return new UsageError(
			`"${text}" begins with neither a context of --contexts nor a type that has pods`,
			near === undefined ? undefined : `Did you mean ${near}/...?`,
		);
	}
	return new ApiError(`the server doesn't have a resource type "${type}"`, { code: 404 });
}

// Finds the pods to evict: by POD, by TYPE/NAME of their workload, or by a selector.
import type { V1Pod } from "@kubernetes/client-node";
import { InvalidBudgetError } from "../../disruption/errors.ts";
import { type ControllerReference, controllerOf } from "../../disruption/budget/pod.ts";
import { formatSelector, parseLabelSelector } from "../../disruption/budget/selector.ts";
import { nearest } from "../flags/nearest.ts";
import { isNotFound } from "../kubernetes/api-error.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import {
	absentContextHint,
	type LostContext,
	SearchedContexts,
	searchForAll,
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

interface WorkloadType {
	readonly kind: string;
	readonly short?: string;
	/** "" is the core group. */
	readonly group: string;
}

const workloadTypes: readonly WorkloadType[] = [
	{ kind: "Deployment", short: "deploy", group: "apps" },
	{ kind: "StatefulSet", short: "sts", group: "apps" },
	{ kind: "ReplicaSet", short: "rs", group: "apps" },
	{ kind: "DaemonSet", short: "ds", group: "apps" },
	{ kind: "ReplicationController", short: "rc", group: "" },
	{ kind: "Job", group: "batch" },
];
const podTypes = ["pod", "pods", "po"];

/** Returns the names that kubectl accepts and prints, for example deploy, deployment, deployments.apps and deployments.v1.apps. */
function namesOf({ kind, short, group }: WorkloadType): readonly string[] {
	const singular = kind.toLowerCase();
	const words = [singular, `${singular}s`, ...(short === undefined ? [] : [short])];
	return group === "" ? words : words.flatMap((word) => [word, `${word}.${group}`, `${word}.v1.${group}`]);
}

function findType(word: string): WorkloadType | undefined {
	return workloadTypes.find((type) => namesOf(type).includes(word.toLowerCase()));
}

function pathOf({ kind, group }: WorkloadType, namespace: string, name: string): string {
	const api = group === "" ? "/api/v1" : `/apis/${group}/v1`;
	return `${api}/namespaces/${namespace}/${kind.toLowerCase()}s/${encodeURIComponent(name)}`;
}

export interface PodQuery {
	readonly words: readonly string[];
	readonly selector: string;
	readonly allNamespaces: boolean;
}

export interface ResolvedPods {
	readonly pods: readonly PodTarget[];
	/** Contexts whose pods may be missing, because their API servers give no answer. */
	readonly lost: readonly LostContext[];
}

/**
 * Returns each pod once, in the given order. Every word must name something that exists. Throws as searchForOne() and searchForAll() do.
 * Also throws ConnectionError if nothing is found and a context does not answer.
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
	for (const text of typedWords(query.words, contexts)) found.push(...(await resolveWord(text, searched)));
	const left = searched.settle(found);
	const pods = [
		...new Map(left.map((target) => [`${target.context.name} ${target.pod.metadata?.uid}`, target])).values(),
	];
	return { pods, lost: searched.lost };
}

/** Puts the type before each name, as kubectl does: "deploy web api" means "deploy/web deploy/api". */
function typedWords(words: readonly string[], contexts: readonly KubeContext[]): readonly string[] {
	const [type = "", ...names] = words;
	if (names.length === 0 || !(podTypes.includes(type.toLowerCase()) || findType(type))) return words;
	return names.map((word) => {
		const { context, rest } = splitContext(word, contexts);
		return context ? `${context.name}/${type}/${rest}` : `${type}/${rest}`;
	});
}

async function resolveWord(text: string, searched: SearchedContexts): Promise<readonly PodTarget[]> {
	const contexts = searched.all;
	const word = splitContext(text, contexts);
	const absent = absentContextHint(word.rest, contexts);
	const { type: named, name: rest } = readResourceArgument(word.rest, absent ?? contextHint(contexts));
	if (named === undefined || podTypes.includes(named.toLowerCase())) {
		const hit = await searchForOne({ ...word, rest }, searched, "pod", (place, podName) =>
			place.client.get<V1Pod>(`/api/v1/namespaces/${place.namespace}/pods/${encodeURIComponent(podName)}`),
		);
		return hit ? [{ context: hit.context, pod: hit.found }] : [];
	}
	const type = findType(named);
	if (!type) throw unknownType(text, named, { contexts, absent });
	// A workload of the fleet has the same name in every cluster. Without a context, TYPE/NAME means its pods in all of them.
	const workloads = await searchForAll({ ...word, type: named, rest }, searched, named, (place, name) =>
		place.client.get<Workload>(pathOf(type, place.namespace, name)),
	);
	const pods = await Promise.all(
		workloads.map(({ context, found }) => searched.search(context, () => podsOf(context, found, type))),
	);
	return workloads.flatMap(({ context }, index) => (pods[index] ?? []).map((pod) => ({ context, pod })));
}

/** Returns the pods that the workload controls, directly or through ReplicaSets. The selector can match other pods, too. */
async function podsOf(context: KubeContext, workload: Workload, type: WorkloadType): Promise<readonly V1Pod[]> {
	const { client, namespace } = context;
	const pods = await client.list<V1Pod>(`/api/v1/namespaces/${namespace}/pods`, {
		labelSelector: selectorText(workload, type),
	});
	const uid = workload.metadata?.uid;
	if (type.kind !== "Deployment") return pods.filter((pod) => controllerOf(pod)?.uid === uid);
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
	// The selector of a ReplicationController is a plain map of labels.
	const selector =
		type.kind === "ReplicationController" ? { matchLabels: workload.spec?.selector } : workload.spec?.selector;
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

function unknownType(
	text: string,
	type: string,
	{ contexts, absent }: { readonly contexts: readonly KubeContext[]; readonly absent: string | undefined },
): UsageError {
	const several = contexts.length > 1;
	const names = [...podTypes, ...workloadTypes.flatMap(namesOf), ...(several ? contexts : []).map(({ name }) => name)];
	const near = nearest(type, names);
	const meant = near === undefined ? undefined : `Did you mean ${near}/...?`;
	return new UsageError(
		several
			? `"${text}" begins with neither a context of --contexts nor a type that has pods`
			: `"${text}" is of no type that has pods`,
		absent ??
			meant ??
			`Name a pod, or a workload as ${workloadTypes.map(({ kind }) => kind.toLowerCase()).join("/NAME, ")}/NAME`,
	);
}

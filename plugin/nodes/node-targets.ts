// What the words of a command mean: a node or a pod, looked up in every context and found in exactly one of them.
import type { V1ManagedFieldsEntry, V1Node } from "@kubernetes/client-node";
import type { NodeName } from "../events/events.ts";
import { ApiError, isNotFound } from "../kubernetes/api-error.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { sameClusterError, UsageError } from "../terminal/errors.ts";
import { fieldManager, type OperationReading, operationAnnotation, parseOperation } from "./operation.ts";

export interface NodeTarget {
	readonly context: KubeContext;
	readonly name: string;
	readonly uid: string;
	readonly unschedulable: boolean;
	/** It is cordoned, and the API server knows that no drain of ours wrote it. */
	readonly cordonedByOthers?: boolean;
	/** What a drain wrote on it. */
	readonly operation?: OperationReading;
}

export function nodeName({ context, name }: NodeTarget): NodeName {
	return { context: context.name, node: name };
}

export interface Word {
	/** Named in the word itself: CONTEXT/NAME. */
	readonly context: KubeContext | undefined;
	readonly rest: string;
	/** TYPE/ in front of the name, where it has to be written. */
	readonly type?: string;
}

/** Splits CONTEXT/NAME. Contexts may have "/" in their own names; the longest one that fits is meant. */
export function splitContext(word: string, contexts: readonly KubeContext[]): Word {
	const fitting = contexts
		.filter(({ name }) => name !== "" && word.startsWith(`${name}/`) && word.length > name.length + 1)
		.toSorted((a, b) => b.name.length - a.name.length);
	const [context] = fitting;
	return { context, rest: context ? word.slice(context.name.length + 1) : word };
}

/**
 * Finds something by name in one context or in all. Throws the API server's own NotFound where there is one context,
 * UsageError where it is in none of several or in more than one.
 */
export async function findInOne<T extends { readonly metadata?: { readonly uid?: string } }>(
	word: Word,
	contexts: readonly KubeContext[],
	what: string,
	find: (context: KubeContext, name: string) => Promise<T>,
): Promise<{ readonly context: KubeContext; readonly found: T }> {
	const places = word.context ? [word.context] : contexts;
	const [only] = places;
	if (only && places.length === 1) {
		return { context: only, found: await inContext(only, contexts, () => find(only, word.rest)) };
	}
	const results = await Promise.all(
		places.map((context) =>
			inContext(context, contexts, async () => {
				try {
					return { context, found: await find(context, word.rest) };
				} catch (error) {
					if (isNotFound(error)) return undefined;
					throw error;
				}
			}),
		),
	);
	const hits = results.filter((result) => result !== undefined);
	const [hit] = hits;
	const names = places.map(({ name }) => name).join(", ");
	if (!hit) throw new UsageError(`${what} "${word.rest}" not found in any of the contexts ${names}`);
	if (hits.length > 1) {
		const uid = hit.found.metadata?.uid ?? "";
		const twin = hits.find((other) => other !== hit && uid !== "" && other.found.metadata?.uid === uid);
		if (twin) throw sameClusterError(hit.context.name, twin.context.name);
		const type = word.type === undefined ? "" : `${word.type}/`;
		const written = hits.map(({ context }) => `${context.name}/${type}${word.rest}`);
		throw new UsageError(
			`${what} "${word.rest}" is in more than one context: ${hits.map(({ context }) => context.name).join(", ")}`,
			`Write ${written.join(" or ")}`,
		);
	}
	return hit;
}

/** Work in one context; where there are several, the API server's errors get its name in front. */
export async function inContext<T>(
	context: KubeContext,
	contexts: readonly KubeContext[],
	work: () => Promise<T>,
): Promise<T> {
	try {
		return await work();
	} catch (error) {
		if (!(error instanceof ApiError) || contexts.length === 1) throw error;
		const { code, reason, causes, retryAfterSeconds } = error;
		throw new ApiError(`context ${context.name}: ${error.message}`, { code, reason, causes, retryAfterSeconds });
	}
}

const nodeTypes = ["node", "nodes", "no"];

/** All nodes that are named or selected, each once, in the order given; every one exists when this returns. */
export async function resolveNodes(
	contexts: readonly KubeContext[],
	words: readonly string[],
	selector: string,
): Promise<readonly NodeTarget[]> {
	const found: NodeTarget[] = [];
	if (selector !== "") {
		const lists = await Promise.all(
			contexts.map((context) =>
				inContext(context, contexts, async () => {
					const nodes = await context.client.list<V1Node>("/api/v1/nodes", { labelSelector: selector });
					return nodes.map((node) => nodeTarget(context, node));
				}),
			),
		);
		found.push(...lists.flat());
	}
	for (const text of words) {
		const word = splitContext(text, contexts);
		const [type = "", ...name] = word.rest.split("/");
		if (name.length > 0 && !nodeTypes.includes(type))
			throw new UsageError(`"${text}" is not a node`, contextHint(contexts));
		if (name.length > 1) throw new UsageError("arguments in resource/name form may not have more than one slash");
		const bare = { context: word.context, rest: name.length > 0 ? name.join("/") : word.rest };
		const { context, found: node } = await findInOne(bare, contexts, "node", (place, nodeName) =>
			place.client.get<V1Node>(`/api/v1/nodes/${encodeURIComponent(nodeName)}`),
		);
		found.push(nodeTarget(context, node));
	}
	return [...new Map(found.map((node) => [`${node.context.name} ${node.uid}`, node])).values()];
}

export function nodeTarget(context: KubeContext, { metadata, spec }: V1Node): NodeTarget {
	const mark = metadata?.annotations?.[operationAnnotation];
	return {
		context,
		name: metadata?.name ?? "",
		uid: metadata?.uid ?? "",
		unschedulable: spec?.unschedulable ?? false,
		cordonedByOthers: isCordonedByOthers(metadata?.managedFields ?? []),
		...(mark !== undefined && { operation: parseOperation(mark) }),
	};
}

/** Whoever changes the field last owns it: after a plain uncordon and another cordon it is not ours any more. */
function isCordonedByOthers(managedFields: readonly V1ManagedFieldsEntry[]): boolean {
	const owners = managedFields.filter(({ fieldsV1 }) => {
		const fields: { readonly "f:spec"?: Readonly<Record<string, unknown>> } | undefined = fieldsV1;
		return fields?.["f:spec"]?.["f:unschedulable"] !== undefined;
	});
	return owners.length > 0 && owners.every(({ manager }) => manager !== fieldManager);
}

function contextHint(contexts: readonly KubeContext[]): string | undefined {
	if (contexts.length < 2) return undefined;
	return `Write NAME, node/NAME or CONTEXT/NAME with one of the contexts ${contexts.map(({ name }) => name).join(", ")}`;
}

// Finds the nodes that a command names or selects.
import type { V1Node } from "@kubernetes/client-node";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { UsageError } from "../terminal/errors.ts";
import {
	absentContextHint,
	type LostContext,
	SearchedContexts,
	searchForOne,
	splitContext,
} from "./find-in-contexts.ts";
import { type NodeTarget, nodeTarget } from "./node-target.ts";
import { readResourceArgument } from "./resource-argument.ts";

const nodeTypes = ["node", "nodes", "no"];

export interface ResolvedNodes {
	readonly nodes: readonly NodeTarget[];
	/** Contexts whose nodes may be missing, because their API servers do not answer. */
	readonly lost: readonly LostContext[];
}

/**
 * Returns all nodes that are named or selected, each once, in the given order. All of them existed when they were read. Throws as
 * searchForOne() does. Also throws ConnectionError if nothing is found and a context does not answer.
 */
export async function resolveNodes(
	contexts: readonly KubeContext[],
	words: readonly string[],
	selector: string,
	{ chunkSize }: { readonly chunkSize?: number } = {},
): Promise<ResolvedNodes> {
	const found: NodeTarget[] = [];
	const searched = new SearchedContexts(contexts);
	if (selector !== "") {
		const lists = await Promise.all(
			contexts.map((context) =>
				searched.search(context, async () => {
					const nodes = await context.client.list<V1Node>("/api/v1/nodes", {
						labelSelector: selector,
						...(chunkSize !== undefined && { chunkSize }),
					});
					return nodes.map((node) => nodeTarget(context, node));
				}),
			),
		);
		found.push(...lists.flatMap((list) => list ?? []));
	}
	for (const text of words) {
		const word = splitContext(text, contexts);
		const hint = absentContextHint(word.rest, contexts) ?? contextHint(contexts);
		const { type, name } = readResourceArgument(word.rest, hint);
		if (type !== undefined && !nodeTypes.includes(type)) throw new UsageError(`"${text}" is not a node`, hint);
		const bare = { context: word.context, rest: name };
		const hit = await searchForOne(bare, searched, "node", (place, nodeName) =>
			place.client.get<V1Node>(`/api/v1/nodes/${encodeURIComponent(nodeName)}`),
		);
		if (hit) found.push(nodeTarget(hit.context, hit.found));
	}
	const left = searched.settle(found, ({ name }) => name);
	const nodes = [...new Map(left.map((node) => [`${node.context.name} ${node.uid}`, node])).values()];
	return { nodes, lost: searched.lost };
}

function contextHint(contexts: readonly KubeContext[]): string | undefined {
	if (contexts.length < 2) return undefined;
	return `Write NAME, node/NAME or CONTEXT/NAME with one of the contexts ${contexts.map(({ name }) => name).join(", ")}`;
}

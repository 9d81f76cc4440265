// The nodes that a command names or selects.
import type { V1Node } from "@kubernetes/client-node";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { UsageError } from "../terminal/errors.ts";
import { absentContextHint, findInOne, inContext, splitContext } from "./find-in-contexts.ts";
import { type NodeTarget, nodeTarget } from "./node-target.ts";
import { readResourceArgument } from "./resource-argument.ts";

const nodeTypes = ["node", "nodes", "no"];

/** All nodes that are named or selected, each once, in the order given; every one exists when this returns. */
export async function resolveNodes(
	contexts: readonly KubeContext[],
	words: readonly string[],
	selector: string,
	{ chunkSize }: { readonly chunkSize?: number } = {},
): Promise<readonly NodeTarget[]> {
	const found: NodeTarget[] = [];
	if (selector !== "") {
		const lists = await Promise.all(
			contexts.map((context) =>
				inContext(context, contexts, async () => {
					const nodes = await context.client.list<V1Node>("/api/v1/nodes", {
						labelSelector: selector,
						...(chunkSize !== undefined && { chunkSize }),
					});
					return nodes.map((node) => nodeTarget(context, node));
				}),
			),
		);
		found.push(...lists.flat());
	}
	for (const text of words) {
		const word = splitContext(text, contexts);
		const hint = absentContextHint(word.rest, contexts) ?? contextHint(contexts);
		const { type, name } = readResourceArgument(word.rest, hint);
		if (type !== undefined && !nodeTypes.includes(type)) throw new UsageError(`"${text}" is not a node`, hint);
		const bare = { context: word.context, rest: name };
		const { context, found: node } = await findInOne(bare, contexts, "node", (place, nodeName) =>
			place.client.get<V1Node>(`/api/v1/nodes/${encodeURIComponent(nodeName)}`),
		);
		found.push(nodeTarget(context, node));
	}
	return [...new Map(found.map((node) => [`${node.context.name} ${node.uid}`, node])).values()];
}

function contextHint(contexts: readonly KubeContext[]): string | undefined {
	if (contexts.length < 2) return undefined;
	return `Write NAME, node/NAME or CONTEXT/NAME with one of the contexts ${contexts.map(({ name }) => name).join(", ")}`;
}

// Finds operations by the annotations on their nodes.
import type { V1Node } from "@kubernetes/client-node";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { UsageError } from "../terminal/errors.ts";
import { type LostContext, SearchedContexts } from "./find-in-contexts.ts";
import { type NodeTarget, nodeTarget } from "./node-target.ts";
import { isOperationId, type Operation } from "./operation.ts";

export interface AnnotatedNode extends NodeTarget {
	readonly annotation: Operation;
}

/** Whether the node still has to be drained. A node that has been uncordoned in the meantime is back in service and is skipped. */
export function isLeft({ annotation, unschedulable }: AnnotatedNode): boolean {
	return annotation.state === "draining" && unschedulable;
}

export interface AnnotatedNodes {
	readonly nodes: readonly AnnotatedNode[];
	/** Nodes whose annotation was written by a later version. */
	readonly later: readonly NodeTarget[];
}

/**
 * Lists the nodes of a context that carry an annotation of this or a later version. The API server cannot filter by annotation, so this
 * reads all nodes.
 */
export async function listAnnotatedNodes(context: KubeContext): Promise<AnnotatedNodes> {
	const nodes = (await context.client.list<V1Node>("/api/v1/nodes")).map((node) => nodeTarget(context, node));
	return {
		nodes: nodes.flatMap((node) =>
			node.operation?.kind === "operation" ? [{ ...node, annotation: node.operation.operation }] : [],
		),
		later: nodes.filter(({ operation }) => operation?.kind === "later"),
	};
}

/** Says how many of the operation's nodes were not found in these contexts. Undefined if none is missing. */
export function missingNodes(found: readonly AnnotatedNode[], lost: readonly LostContext[]): string | undefined {
	const total = Math.max(...found.map(({ annotation }) => annotation.nodes));
	if (found.length >= total) return undefined;
	return (
		`${total - found.length} of its ${total} nodes (deleted, uncordoned, taken over by another operation, ` +
		`or in contexts that ${lost.length > 0 ? "give no answer" : "were not named"})`
	);
}

export interface FoundOperation {
	readonly nodes: readonly AnnotatedNode[];
	/** Contexts whose nodes may be missing, because their API servers do not answer. */
	readonly lost: readonly LostContext[];
}

/** Returns the nodes of one operation. If there are none, throws ConnectionError if a context does not answer, and otherwise UsageError. */
export async function findOperation(contexts: readonly KubeContext[], id: string): Promise<FoundOperation> {
	if (!isOperationId(id)) {
		throw new UsageError(`"${id}" is not the ID of an operation: an ID is six hex digits`);
	}
	const searched = new SearchedContexts(contexts);
	const lists = (
		await Promise.all(contexts.map((context) => searched.search(context, () => listAnnotatedNodes(context))))
	).filter((list) => list !== undefined);
	const found = lists.flatMap(({ nodes }) => nodes).filter(({ annotation }) => annotation.id === id);
	const left = searched.settle(found, ({ name }) => name);
	if (left.length > 0) return { nodes: left, lost: searched.lost };
	const names = contexts.map(({ name }) => name).join(", ");
	const where = contexts.length > 1 ? `contexts ${names}` : `context ${names}`;
	const later = lists.flatMap((list) => list.later).map(({ name }) => name);
	throw new UsageError(
		`no node in ${where} belongs to operation "${id}", nothing was touched`,
		later.length > 0
			? `A later version of kubectl-xpdb marked ${later.join(", ")}: update this one`
			: "It is unknown, was undone, or belongs to other clusters: kubectl xpdb ops --contexts=... shows what is unfinished there",
	);
}

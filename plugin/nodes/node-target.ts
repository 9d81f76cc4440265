// Reads a node that a command works on, as its API server reports it.
import type { V1ManagedFieldsEntry, V1Node } from "@kubernetes/client-node";
import type { NodeName } from "../events/events.ts";
import { fieldManager } from "../kubernetes/field-manager.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { type OperationReading, operationAnnotation, parseOperation } from "./operation.ts";

export interface NodeTarget {
	readonly context: KubeContext;
	readonly name: string;
	readonly uid: string;
	readonly unschedulable: boolean;
	/** Whether the node's managed fields show that `spec.unschedulable` was set by other clients, and not by this program. */
	readonly cordonedByOthers?: boolean;
	/** What the annotation of a drain says, if the node has one. */
	readonly operation?: OperationReading;
}

export function nodeName({ context, name }: NodeTarget): NodeName {
	return { context: context.name, node: name };
}

export function nodeTarget(context: KubeContext, { metadata, spec }: V1Node): NodeTarget {
	const annotation = metadata?.annotations?.[operationAnnotation];
	return {
		context,
		name: metadata?.name ?? "",
		uid: metadata?.uid ?? "",
		unschedulable: spec?.unschedulable ?? false,
		cordonedByOthers: isCordonedByOthers(metadata?.managedFields ?? []),
		...(annotation !== undefined && { operation: parseOperation(annotation) }),
	};
}

/**
 * Whether only other clients own `spec.unschedulable`. The last client that changed a field owns it, so after an uncordon and a new cordon
 * by another tool, the cordon is not ours.
 */
function isCordonedByOthers(managedFields: readonly V1ManagedFieldsEntry[]): boolean {
	const owners = managedFields.filter(({ fieldsV1 }) => {
		const fields: { readonly "f:spec"?: Readonly<Record<string, unknown>> } | undefined = fieldsV1;
		return fields?.["f:spec"]?.["f:unschedulable"] !== undefined;
	});
	return owners.length > 0 && owners.every(({ manager }) => manager !== fieldManager);
}

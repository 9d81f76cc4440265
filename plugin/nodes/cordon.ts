// Cordons or uncordons one node, with kubectl's patch and kubectl's messages.
import type { EventSink } from "../events/events.ts";
import type { DryRun } from "../flags/dry-run.ts";
import { ConnectionError, errorText } from "../kubernetes/api-error.ts";
import { fieldManager } from "../kubernetes/field-manager.ts";
import type { NodeTarget } from "./node-target.ts";

export interface CordonOptions {
	readonly desired: boolean;
	readonly dryRun: DryRun;
	readonly emit: EventSink;
	/** Written with the same patch. null removes an annotation. */
	readonly annotations?: Readonly<Record<string, string | null>>;
	/** Whether this run may undo the change. Default: true if the node was not as desired before. */
	readonly ours?: boolean;
	/** Sends the patch. Rejects if the node may no longer be changed. */
	readonly write?: (patch: Readonly<Record<string, object>>) => Promise<unknown>;
}

/**
 * `unannotated`: the node is as desired, but its annotations could not be written. `unanswered`: the API server did not answer, so the
 * node's state is unknown.
 */
export type CordonResult = "done" | "unannotated" | "failed" | "unanswered";

export function hasSucceeded(result: CordonResult): boolean {
	return result === "done" || result === "unannotated";
}

/** Reports a failure instead of throwing it, so that the command continues, as kubectl does. */
export async function setUnschedulable(
	node: NodeTarget,
	{ desired, dryRun, emit, annotations, ours, write }: CordonOptions,
): Promise<CordonResult> {
	const { context, name } = node;
	const type = desired ? "node.cordoned" : "node.uncordoned";
	const already = node.unschedulable === desired;
	const annotates = annotations !== undefined && dryRun === "none";
	let result: CordonResult = "done";
	if (dryRun !== "client" && (!already || annotates)) {
		try {
			const query = dryRun === "server" ? "&dryRun=All" : "";
			const path = `/api/v1/nodes/${encodeURIComponent(name)}?fieldManager=${fieldManager}${query}`;
			const send = write ?? ((patch) => context.client.patch(path, patch));
			await send({
				// null removes the field, as in kubectl's own patch.
				...(!already && { spec: { unschedulable: desired ? true : null } }),
				...(annotates && { metadata: { annotations } }),
			});
		} catch (error) {
			if (!(error instanceof Error)) throw error;
			const message = errorText(error);
			if (!already) {
				emit({ type: "node.cordonFailed", context: context.name, node: name, uncordon: !desired, message });
				return error instanceof ConnectionError ? "unanswered" : "failed";
			}
			// Not a failure, because kubectl writes no annotation. But after a cordon, undo and resume do not find the node.
			const text = `cannot write annotations of node "${name}": ${message}`;
			emit({ type: "diagnostic", level: "warning", context: context.name, message: text });
			result = "unannotated";
		}
	}
	emit({ type, context: context.name, node: name, already, ours: ours ?? !already, dryRun });
	return result;
}

// Implements uncordon --op: undoes what one operation did to a node, and nothing else. It changes no node that no longer belongs to the
// operation, and counts it as failed: whether that node can be scheduled is now up to another drain or user.
import type { EventSink } from "../events/events.ts";
import type { DryRun } from "../flags/dry-run.ts";
import { ConnectionError, errorText } from "../kubernetes/api-error.ts";
import { type CordonResult, setUnschedulable } from "./cordon.ts";
import type { NodeTarget } from "./node-target.ts";
import { operationAnnotation } from "./operation.ts";
import { patchAnnotated } from "./operation-annotation.ts";

const withoutAnnotation = { [operationAnnotation]: null };

export async function undoCordon(
	node: NodeTarget,
	{ id, dryRun, emit }: { readonly id: string; readonly dryRun: DryRun; readonly emit: EventSink },
): Promise<CordonResult> {
	const { context, name, operation } = node;
	let isLost = false;
	const write = async (patch: Readonly<Record<string, object>>): Promise<void> => {
		if (await patchAnnotated(node, { id }, patch)) return;
		isLost = true;
		throw new Error(`it does not belong to operation ${id} any more`);
	};
	const wasBefore = operation?.kind === "operation" && operation.operation.cordonedBefore;
	const staysCordoned = node.unschedulable && (wasBefore || node.cordonedByOthers);
	if (!staysCordoned) {
		const written = dryRun === "none" ? { annotations: withoutAnnotation, write } : {};
		const result = await setUnschedulable(node, { desired: false, dryRun, emit, ...written });
		return isLost ? "failed" : result;
	}
	try {
		if (dryRun === "none") await write({ metadata: { annotations: withoutAnnotation } });
	} catch (error) {
		if (!(error instanceof Error)) throw error;
		const message = `cannot write annotations of node "${name}": ${errorText(error)}`;
		emit({ type: "diagnostic", level: "warning", context: context.name, message });
		return error instanceof ConnectionError ? "unanswered" : "failed";
	}
	const message = `node "${name}" was cordoned ${wasBefore ? "before" : "by others since"} operation ${id} and stays so`;
	emit({ type: "diagnostic", level: "info", context: context.name, message });
	return "done";
}

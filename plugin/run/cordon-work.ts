// Cordons or uncordons nodes. This evicts nothing, so it needs no fleet.
import type { DryRun } from "../flags/dry-run.ts";
import { type CordonOptions, type CordonResult, hasSucceeded, setUnschedulable } from "../nodes/cordon.ts";
import type { NodeTarget } from "../nodes/node-target.ts";
import { operationAnnotation } from "../nodes/operation.ts";
import { undoCommand } from "../nodes/resume-command.ts";
import { undoCordon } from "../nodes/undo-cordon.ts";
import type { RunWork } from "./perform-run.ts";
import type { OpenRun, RunCall } from "./run-report.ts";

export interface CordonTask {
	readonly nodes: readonly NodeTarget[];
	readonly dryRun: DryRun;
	/** The operation whose cordons are undone. Left out if the nodes were named or selected. */
	readonly op?: string;
}

export function cordonWork(
	{ nodes, dryRun, op }: CordonTask,
	{ command }: RunCall,
	{ emit, offer, record, suggest }: OpenRun,
): RunWork {
	const desired = command === "cordon";
	const set = (node: NodeTarget): Promise<CordonResult> =>
		op === undefined
			? setUnschedulable(node, { desired, dryRun, emit, ...withoutAnnotation(node, desired) })
			: undoCordon(node, { id: op, dryRun, emit });
	return {
		kind: "nodes",
		nodes,
		pods: [],
		dryRun,
		async work() {
			offer(() => (record.ours.length === 0 ? {} : { undo: undoCommand(record.ours, suggest) }));
			const results: CordonResult[] = [];
			for (const node of nodes) results.push(await set(node));
			const failures = results
				.filter((result) => !hasSucceeded(result))
				.map((result) => ({ unreachable: result === "unanswered" }));
			return { kind: "ended", failures };
		},
	};
}

function withoutAnnotation({ operation }: NodeTarget, desired: boolean): Pick<CordonOptions, "annotations"> {
	return operation && !desired ? { annotations: { [operationAnnotation]: null } } : {};
}

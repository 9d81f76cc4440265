// Implements drain --resume: finds the nodes and flags of an unfinished operation, as its nodes remember them.
import type { EventSink } from "../events/events.ts";
import type { CommandInput } from "../flags/command.ts";
import { formatElapsed } from "../flags/duration.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { UsageError } from "../terminal/errors.ts";
import type { LostContext } from "./find-in-contexts.ts";
import { type AnnotatedNode, findOperation, isLeft, missingNodes } from "./find-operation.ts";
import { resumeInput } from "./operation-flags.ts";

export interface ResumedOperation {
	/** The nodes left to drain: those that are not drained and still cordoned. */
	readonly nodes: readonly AnnotatedNode[];
	/** Contexts that do not answer and may have more of its nodes. */
	readonly lost: readonly LostContext[];
	readonly input: CommandInput;
	readonly since: string;
	/** The number of nodes that it started with. */
	readonly total: number;
	/** Throws UsageError if today's budgets are those of another fleet. */
	requireFleet(hash: string): void;
}

/** Throws as findOperation() does, and UsageError if the operation cannot be resumed this way. Nothing has been touched then. */
export async function resumeOperation(
	id: string,
	{
		input,
		contexts,
		emit,
	}: { readonly input: CommandInput; readonly contexts: readonly KubeContext[]; readonly emit: EventSink },
): Promise<ResumedOperation> {
	const { nodes: all, lost } = await findOperation(contexts, id);
	const nodes = all.filter(isLeft);
	const [first] = nodes.length > 0 ? nodes : all;
	if (!first) throw new Error("an operation without nodes");
	const { by, since, nodes: total, fleet } = first.annotation;
	const tell = (level: "info" | "warning", message: string): void => emit({ type: "diagnostic", level, message });
	const drained = all.filter(({ annotation }) => annotation.state === "drained").length;
	const age = formatElapsed(Date.now() - Date.parse(since));
	tell(
		"info",
		`Operation ${id} of ${by}, begun ${age} ago: ${nodes.length} of ${all.length} nodes left, ${drained} drained`,
	);
	const isOut = ({ annotation, unschedulable }: AnnotatedNode): boolean =>
		annotation.state === "draining" && !unschedulable;
	for (const { name, context } of all.filter(isOut)) {
		const message = `node "${name}" was uncordoned since and is skipped; to drain it, name it`;
		emit({ type: "diagnostic", level: "warning", context: context.name, message });
	}
	const missing = missingNodes(all, lost);
	if (missing !== undefined) tell("warning", `not found: ${missing}`);
	return {
		nodes,
		lost,
		input: nodes.length > 0 ? resumeInput(input, first.annotation) : input,
		since,
		total,
		requireFleet(hash) {
			// If the operation began without agents, budgets that apply now only make it safer.
			if (fleet === "" || fleet === hash) return;
			throw new UsageError(
				`operation "${id}" was begun under the budgets of another fleet, nothing was touched`,
				"Its members have changed since, or these are other clusters. To drain under the budgets of now, name the nodes",
			);
		},
	};
}

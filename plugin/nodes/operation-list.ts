// Unfinished runs, gathered from the marks on the nodes of several clusters.
import type { GlobalFlags } from "../flags/global-flags.ts";
import { isLeft, type MarkedNode } from "./find-operation.ts";
import { writtenAgain } from "./operation-flags.ts";
import { resumeOperationCommand, undoOperationCommand } from "./resume-command.ts";

export interface OperationRow {
	readonly id: string;
	readonly by: string;
	readonly since: string;
	/** Flags to be typed again with --resume. */
	readonly typedAgain: readonly string[];
	readonly contexts: readonly OperationInContext[];
	readonly resume: string;
	readonly undo: string;
}

export interface OperationInContext {
	readonly context: string;
	readonly drained: readonly string[];
	readonly left: readonly string[];
}

/** Runs with nodes left, the oldest first. */
export function listOperations(nodes: readonly MarkedNode[], globals: GlobalFlags): readonly OperationRow[] {
	return [...Map.groupBy(nodes, ({ mark }) => mark.id)]
		.filter(([, marked]) => marked.some(isLeft))
		.map(([id, marked]) => operationRow(id, marked, globals))
		.toSorted((a, b) => (a.since < b.since ? -1 : 1));
}

function operationRow(id: string, marked: readonly MarkedNode[], globals: GlobalFlags): OperationRow {
	const { by = "", since = "", typedAgain = [] } = marked.find(isLeft)?.mark ?? {};
	const contexts = [...Map.groupBy(marked, ({ context }) => context.name)].map(([context, here]) => ({
		context,
		drained: here.filter(({ mark }) => mark.state === "drained").map(({ name }) => name),
		left: here.filter(isLeft).map(({ name }) => name),
	}));
	const resume = resumeOperationCommand(id, typedAgain.map(writtenAgain), globals);
	return { id, by, since, typedAgain, contexts, resume, undo: undoOperationCommand(id, globals) };
}

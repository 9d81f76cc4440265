// Lists unfinished operations, collected from the annotations on the nodes of several clusters.
import type { SuggestedCommands } from "../flags/suggested-commands.ts";
import { type AnnotatedNode, isLeft } from "./find-operation.ts";
import { flagsToTypeAgain, writtenAgain } from "./operation-flags.ts";
import { resumeOperationCommand, undoOperationCommand } from "./resume-command.ts";

export interface OperationRow {
	readonly id: string;
	readonly by: string;
	readonly since: string;
	/** Flags to type again with --resume. */
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

/** Returns the operations with nodes left to drain, oldest first. */
export function listOperations(nodes: readonly AnnotatedNode[], suggest: SuggestedCommands): readonly OperationRow[] {
	return [...Map.groupBy(nodes, ({ annotation }) => annotation.id)]
		.filter(([, annotated]) => annotated.some(isLeft))
		.map(([id, annotated]) => operationRow(id, annotated, suggest))
		.toSorted((a, b) => (a.since < b.since ? -1 : 1));
}

function operationRow(id: string, annotated: readonly AnnotatedNode[], suggest: SuggestedCommands): OperationRow {
	const annotation = annotated.find(isLeft)?.annotation;
	const { by = "", since = "" } = annotation ?? {};
	const typedAgain = annotation ? flagsToTypeAgain(annotation) : [];
	const contexts = [...Map.groupBy(annotated, ({ context }) => context.name)].map(([context, here]) => ({
		context,
		drained: here.filter(({ annotation }) => annotation.state === "drained").map(({ name }) => name),
		left: here.filter(isLeft).map(({ name }) => name),
	}));
	const resume = resumeOperationCommand(id, typedAgain.map(writtenAgain), suggest);
	return { id, by, since, typedAgain, contexts, resume, undo: undoOperationCommand(id, suggest) };
}

// Implements `kubectl xpdb ops`: lists unfinished drains.
import { booleanFlag, type CommandRunner, textFlag } from "../flags/command.ts";
import { formatElapsed } from "../flags/duration.ts";
import { SuggestedCommands } from "../flags/suggested-commands.ts";
import { ApiError, ConnectionError, kubectlErrorLine } from "../kubernetes/api-error.ts";
import { inContext } from "../nodes/find-in-contexts.ts";
import { type AnnotatedNodes, listAnnotatedNodes } from "../nodes/find-operation.ts";
import { listOperations, type OperationRow } from "../nodes/operation-list.ts";
import { isDocument, parseReadFormat, writeDocument } from "../output/read-format.ts";
import { tableLines } from "../output/table.ts";
import { withContexts } from "../run/with-contexts.ts";
import { exitCode } from "../terminal/exit.ts";

export const operationsSchema = "xpdb.operations/1.0";

export const runOps: CommandRunner = async (input, deps) => {
	const { streams } = deps;
	const format = parseReadFormat(textFlag(input, "output"), ["json", "yaml", "name", "wide"]);
	return withContexts(input, deps, async (contexts) => {
		const problems: string[] = [];
		let isUnanswered = false;
		const lists = await Promise.all(
			contexts.map(async (context): Promise<AnnotatedNodes> => {
				try {
					return await inContext(context, contexts, () => listAnnotatedNodes(context));
				} catch (error) {
					// The other contexts' answers are still useful.
					if (!(error instanceof ApiError || error instanceof ConnectionError)) throw error;
					problems.push(kubectlErrorLine(error));
					isUnanswered ||= error instanceof ConnectionError && (error.isSilent || contexts.length > 1);
					return { nodes: [], later: [] };
				}
			}),
		);
		const rows = listOperations(
			lists.flatMap(({ nodes }) => nodes),
			new SuggestedCommands(input.globals),
		);
		for (const { context, name } of lists.flatMap(({ later }) => later)) {
			streams.stderr.write(
				`Warning: node "${name}" of context ${context.name} belongs to an operation of a later version of kubectl-xpdb\n`,
			);
		}
		if (isDocument(format)) {
			writeDocument(streams.stdout, format, { schema: operationsSchema, items: rows, problems });
		} else if (format === "name") {
			for (const { id } of rows) streams.stdout.write(`${id}\n`);
		} else if (rows.length > 0) {
			const headers = ["ID", "BY", "AGE", "CONTEXT", "DRAINED", "LEFT", ...(format === "wide" ? ["NODES LEFT"] : [])];
			const cells = rows.flatMap((row) => rowCells(row, { isWide: format === "wide", now: Date.now() }));
			const lines = tableLines(booleanFlag(input, "no-headers") ? undefined : headers, cells);
			for (const line of lines) streams.stdout.write(`${line}\n`);
			for (const { resume, undo } of rows) streams.stderr.write(`\nContinue:     ${resume}\nUndo cordons: ${undo}\n`);
		} else if (problems.length === 0) {
			streams.stderr.write("No unfinished operations found\n");
		}
		for (const problem of problems) streams.stderr.write(`${problem}\n`);
		if (isUnanswered) return exitCode.failedClosed;
		return problems.length > 0 ? exitCode.error : exitCode.done;
	});
};

function rowCells(
	{ id, by, since, contexts }: OperationRow,
	{ isWide, now }: { readonly isWide: boolean; readonly now: number },
): readonly (readonly string[])[] {
	return contexts.map(({ context, drained, left }) => [
		id,
		by,
		formatElapsed(now - Date.parse(since)),
		context || "-",
		String(drained.length),
		String(left.length),
		...(isWide ? [left.join(",") || "-"] : []),
	]);
}

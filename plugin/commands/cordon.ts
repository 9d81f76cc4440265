// kubectl xpdb cordon and uncordon
import {
	booleanFlag,
	type CommandDependencies,
	type CommandInput,
	type CommandRunner,
	textFlag,
} from "../flags/command.ts";
import { parseDryRun } from "../flags/dry-run.ts";
import { type CordonOptions, setUnschedulable } from "../nodes/cordon.ts";
import { findOperation } from "../nodes/find-operation.ts";
import { type NodeTarget, nodeName, resolveNodes } from "../nodes/node-targets.ts";
import { isOperationId, operationAnnotation } from "../nodes/operation.ts";
import { undoCommand } from "../nodes/resume-command.ts";
import { undoCordon } from "../nodes/undo-cordon.ts";
import { reportRun } from "../run/reported-run.ts";
import { confirm } from "../terminal/confirm.ts";
import { UsageError } from "../terminal/errors.ts";
import { type ExitCode, exitCode } from "../terminal/exit.ts";

export const runCordon: CommandRunner = (input, deps) => mark(input, deps, { verb: "cordon", desired: true });
export const runUncordon: CommandRunner = (input, deps) => mark(input, deps, { verb: "uncordon", desired: false });

async function mark(
	input: CommandInput,
	deps: CommandDependencies,
	{ verb, desired }: { readonly verb: "cordon" | "uncordon"; readonly desired: boolean },
): Promise<ExitCode> {
	const { streams, interrupts } = deps;
	const op = textFlag(input, "op");
	return reportRun({ command: verb, ...(isOperationId(op) && { op }), input, deps }, async (run) => {
		const { emit, openContexts, offer, record } = run;
		const dryRun = parseDryRun(textFlag(input, "dry-run"), streams.stderr);
		if (op === "") requireNodes(input, verb);
		else refuseNodes(input, "--op");
		const contexts = openContexts();
		const marked = op === "" ? undefined : await findOperation(contexts, op);
		const nodes = marked ?? (await resolveNodes(contexts, input.words, textFlag(input, "selector")));
		const goOn = await confirm(
			{
				summary: summariseNodes(verb, nodes),
				contexts: new Set(nodes.map(({ context }) => context)).size,
				assumeYes: booleanFlag(input, "yes") || dryRun !== "none",
				signal: interrupts.stop,
			},
			streams,
		);
		if (!goOn) {
			streams.stderr.write("Nothing was touched.\n");
			return exitCode.error;
		}
		emit({ type: "run.started", members: [], nodes: nodes.map(nodeName), pods: [], dryRun });
		offer(() => (record.ours.length === 0 ? {} : { undo: undoCommand(record.ours, input.globals) }));
		let failed = false;
		for (const node of nodes) {
			const result = await (marked
				? undoCordon(node, { id: op, dryRun, emit })
				: setUnschedulable(node, { desired, dryRun, emit, ...withoutMark(node, desired) }));
			failed ||= result === "failed";
		}
		return failed ? exitCode.error : exitCode.done;
	});
}

/** Who uncordons a node by its name ends what a drain remembers there. */
function withoutMark({ operation }: NodeTarget, desired: boolean): Pick<CordonOptions, "annotations"> {
	return operation && !desired ? { annotations: { [operationAnnotation]: null } } : {};
}

/** The nodes are those of a run: they are not named. */
export function refuseNodes(input: CommandInput, flag: string): void {
	if (input.words.length === 0 && textFlag(input, "selector") === "") return;
	throw new UsageError(
		`cannot specify both nodes and ${flag}`,
		`${flag} finds its nodes by what the run wrote on them`,
	);
}

/** kubectl's own complaints about its words. */
export function requireNodes(input: CommandInput, verb: string): void {
	const selector = textFlag(input, "selector");
	const see = `See 'kubectl xpdb ${verb} -h' for help and examples`;
	if (input.words.length === 0 && selector === "") throw new UsageError(`USAGE: ${verb} NODE [flags]`, see);
	if (input.words.length > 0 && selector !== "") {
		throw new UsageError("cannot specify both a node name and a --selector option", see);
	}
}

export function summariseNodes(verb: string, nodes: readonly NodeTarget[]): readonly string[] {
	const byContext = Map.groupBy(nodes, ({ context }) => context.name);
	const width = Math.max(...[...byContext.keys()].map((name) => name.length), 0);
	return [
		`${verb.charAt(0).toUpperCase()}${verb.slice(1)} ${nodes.length} nodes in ${byContext.size} contexts:`,
		...[...byContext].map(
			([name, targets]) => `  ${name.padEnd(width)}  ${targets.map((node) => node.name).join(", ")}`,
		),
	];
}

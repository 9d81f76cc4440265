// Implements `kubectl xpdb cordon` and `uncordon`.
import { type CommandDependencies, type CommandInput, type CommandRunner, textFlag } from "../flags/command.ts";
import { parseDryRun } from "../flags/dry-run.ts";
import { findOperation, missingNodes } from "../nodes/find-operation.ts";
import { refuseEmptyId, refuseNodes, requireNodes } from "../nodes/node-arguments.ts";
import { resolveNodes } from "../nodes/node-targets.ts";
import { isOperationId } from "../nodes/operation.ts";
import { performRun, withoutLost } from "../run/perform-run.ts";
import { cordonWork } from "../run/cordon-work.ts";
import type { ExitCode } from "../terminal/exit.ts";

export const runCordon: CommandRunner = (input, deps) => setNodes("cordon", input, deps);
export const runUncordon: CommandRunner = (input, deps) => setNodes("uncordon", input, deps);

function setNodes(command: "cordon" | "uncordon", input: CommandInput, deps: CommandDependencies): Promise<ExitCode> {
	const op = textFlag(input, "op");
	const call = { command, ...(isOperationId(op) && { op }), input, deps };
	return performRun(call, {
		readOptions() {
			const dryRun = parseDryRun(textFlag(input, "dry-run"), deps.streams.stderr);
			refuseEmptyId(input, "op");
			if (op === "") requireNodes(input, command);
			else refuseNodes(input, "--op");
			return { dryRun };
		},
		async findWork({ dryRun }, run) {
			const { contexts } = run;
			if (op !== "") {
				const { nodes, lost } = await findOperation(contexts, op);
				const missing = missingNodes(nodes, lost);
				if (missing !== undefined) {
					const message = `operation ${op}: left as they are: ${missing}`;
					run.emit({ type: "diagnostic", level: "warning", message });
				}
				return withoutLost(cordonWork({ nodes, dryRun, op }, call, run), lost);
			}
			const { nodes, lost } = await resolveNodes(contexts, input.words, textFlag(input, "selector"));
			return withoutLost(cordonWork({ nodes, dryRun }, call, run), lost);
		},
	});
}

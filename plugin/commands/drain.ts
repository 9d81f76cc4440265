// Implements `kubectl xpdb drain`: reads the flags, and finds the nodes.
import { readDrainOptions } from "../drain/drain-options.ts";
import { type CommandRunner, textFlag } from "../flags/command.ts";
import { refuseEmptyId, refuseNodes, requireNodes } from "../nodes/node-arguments.ts";
import { resolveNodes } from "../nodes/node-targets.ts";
import { isOperationId, newOperationId } from "../nodes/operation.ts";
import { resumeOperation } from "../nodes/resume-operation.ts";
import { performRun, withoutLost } from "../run/perform-run.ts";
import { drainWork } from "../run/drain-work.ts";

export const runDrain: CommandRunner = (input, deps) => {
	const resumes = textFlag(input, "resume");
	const op = resumes === "" ? newOperationId() : resumes;
	const call = { command: "drain", ...(isOperationId(op) && { op }), input, deps } as const;
	return performRun(call, {
		readOptions() {
			refuseEmptyId(input, "resume");
			if (resumes === "") requireNodes(input, "drain");
			else refuseNodes(input, "--resume");
			// With --resume, flags that are not typed again come from the annotations of the nodes, which are read later.
			return resumes === "" ? readDrainOptions(input, deps) : undefined;
		},
		async findWork(options, run) {
			const { contexts, emit } = run;
			if (options) {
				const { nodes, lost } = await resolveNodes(contexts, input.words, textFlag(input, "selector"), options);
				return withoutLost(await drainWork({ nodes, lost, options, op }, call, run), lost);
			}
			const resumed = await resumeOperation(op, { input, contexts, emit });
			const { nodes, lost, input: as } = resumed;
			if (nodes.length === 0) return withoutLost({ kind: "ended", failures: [] }, lost);
			const task = { nodes, lost, options: readDrainOptions(as, deps), op, resumed };
			return withoutLost(await drainWork(task, { ...call, input: as }, run), lost);
		},
	});
};

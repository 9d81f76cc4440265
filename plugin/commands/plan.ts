import { readDrainOptions } from "../drain/drain-options.ts";
import { type CommandRunner, textFlag } from "../flags/command.ts";
import { requireNodes } from "../nodes/node-arguments.ts";
import { planLines } from "../output/plan-lines.ts";
import { isDocument, parseReadFormat, writeDocument } from "../output/read-format.ts";
import { readPlan } from "../run/read-plan.ts";
import { withContexts } from "../run/with-contexts.ts";

export const runPlan: CommandRunner = async (input, deps) => {
	const { streams } = deps;
	requireNodes(input, "plan");
	const format = parseReadFormat(textFlag(input, "output"), ["json", "yaml", "wide"]);
	const options = readDrainOptions(input, deps);
	return withContexts(input, deps, async (contexts) => {
		const request = { words: input.words, selector: textFlag(input, "selector"), options };
		const plan = await readPlan(contexts, request);
		if (isDocument(format)) {
			writeDocument(streams.stdout, format, plan);
		} else {
			for (const warning of plan.warnings) streams.stderr.write(`Warning: ${warning}\n`);
			const { columns } = streams.stdout;
			const lines = planLines(plan, { several: contexts.length > 1, wide: format === "wide", columns });
			for (const line of lines) streams.stdout.write(`${line}\n`);
		}
		return plan.exitCode;
	});
};

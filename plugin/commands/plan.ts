// kubectl xpdb plan
import { readDrainOptions } from "../drain/drain-options.ts";
import { type CommandRunner, textFlag } from "../flags/command.ts";
import { connectFleet } from "../fleet/connect-fleet.ts";
import { requireNodes } from "../nodes/node-arguments.ts";
import { resolveNodes } from "../nodes/node-targets.ts";
import { planLines } from "../output/plan-lines.ts";
import { isDocument, parseReadFormat, writeDocument } from "../output/read-format.ts";
import { makePlan } from "../plan/make-plan.ts";
import { readFacts } from "../plan/read-facts.ts";
import { withContexts } from "../run/with-contexts.ts";
import { exitCode } from "../terminal/exit.ts";

export const runPlan: CommandRunner = async (input, deps) => {
	const { streams } = deps;
	requireNodes(input, "plan");
	const format = parseReadFormat(textFlag(input, "output"), ["json", "yaml", "wide"]);
	const options = readDrainOptions(input, deps);
	return withContexts(input, deps, async (contexts) => {
		const connecting = connectFleet(contexts);
		try {
			// A wrong name is told first, whatever becomes of the fleet.
			connecting.catch(() => undefined);
			const nodes = await resolveNodes(contexts, input.words, textFlag(input, "selector"), options);
			const now = Date.now();
			const plan = makePlan(await readFacts(nodes, connecting, { ...options, now }), { ...options, now });
			if (isDocument(format)) {
				writeDocument(streams.stdout, format, plan);
			} else {
				for (const warning of plan.warnings) streams.stderr.write(`Warning: ${warning}\n`);
				const { columns } = streams.stdout;
				const lines = planLines(plan, { several: contexts.length > 1, wide: format === "wide", columns });
				for (const line of lines) streams.stdout.write(`${line}\n`);
			}
			return plan.possible ? exitCode.done : exitCode.neverPossible;
		} finally {
			await connecting.then(
				({ fleet }) => fleet?.close(),
				() => undefined,
			);
		}
	});
};

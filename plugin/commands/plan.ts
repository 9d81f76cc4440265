// kubectl xpdb plan
import { type CommandRunner, textFlag } from "../command.ts";
import { readDrainOptions } from "../drain-options.ts";
import { exitCode } from "../exit.ts";
import { connectFleet } from "../fleet.ts";
import { openContexts } from "../open-contexts.ts";
import { planLines } from "../output/plan-lines.ts";
import { isDocument, parseReadFormat, writeDocument } from "../output/read-format.ts";
import { makePlan } from "../plan/make-plan.ts";
import { readFacts } from "../plan/read-facts.ts";
import { resolveNodes } from "../targets.ts";
import { requireNodes } from "./cordon.ts";

export const runPlan: CommandRunner = async (input, deps) => {
	const { streams } = deps;
	requireNodes(input, "plan");
	const format = parseReadFormat(textFlag(input, "output"), ["json", "yaml", "wide"]);
	const options = readDrainOptions(input, deps);
	const contexts = openContexts(input.globals, deps.env, streams.stderr);
	const connecting = connectFleet(contexts);
	try {
		// A wrong name is told first, whatever becomes of the fleet.
		connecting.catch(() => undefined);
		const nodes = await resolveNodes(contexts, input.words, textFlag(input, "selector"));
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
		for (const { client } of contexts) client.close();
	}
};

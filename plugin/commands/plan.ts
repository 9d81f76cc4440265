// kubectl xpdb plan
import { readDrainOptions } from "../drain/drain-options.ts";
import { type CommandRunner, textFlag } from "../flags/command.ts";
import { connectFleet } from "../fleet/connect-fleet.ts";
import type { FleetConnection } from "../fleet/fleet.ts";
import { kubectlErrorLine } from "../kubernetes/api-error.ts";
import type { LostContext } from "../nodes/find-in-contexts.ts";
import { requireNodes } from "../nodes/node-arguments.ts";
import { resolveNodes } from "../nodes/node-targets.ts";
import { planLines } from "../output/plan-lines.ts";
import { isDocument, parseReadFormat, writeDocument } from "../output/read-format.ts";
import { makePlan } from "../plan/make-plan.ts";
import { readFacts } from "../plan/read-facts.ts";
import { answeringContexts } from "../run/lost-contexts.ts";
import { withContexts } from "../run/with-contexts.ts";
import { exitCode } from "../terminal/exit.ts";

export const runPlan: CommandRunner = async (input, deps) => {
	const { streams } = deps;
	requireNodes(input, "plan");
	const format = parseReadFormat(textFlag(input, "output"), ["json", "yaml", "wide"]);
	const options = readDrainOptions(input, deps);
	return withContexts(input, deps, async (contexts) => {
		let connecting = connectFleet(contexts);
		try {
			// A wrong name is told first, whatever becomes of the fleet.
			connecting.catch(() => undefined);
			const { nodes, lost } = await resolveNodes(contexts, input.words, textFlag(input, "selector"), options);
			if (lost.length > 0) {
				void closeLater(connecting);
				connecting = connectFleet(answeringContexts(contexts, lost));
			}
			const now = Date.now();
			const made = makePlan(await readFacts(nodes, connecting, { ...options, now }), { ...options, now });
			const plan = { ...made, warnings: [...lost.map(lostWarning), ...made.warnings] };
			if (isDocument(format)) {
				writeDocument(streams.stdout, format, plan);
			} else {
				for (const warning of plan.warnings) streams.stderr.write(`Warning: ${warning}\n`);
				const { columns } = streams.stdout;
				const lines = planLines(plan, { several: contexts.length > 1, wide: format === "wide", columns });
				for (const line of lines) streams.stdout.write(`${line}\n`);
			}
			if (!plan.possible) return exitCode.neverPossible;
			return lost.length > 0 ? exitCode.failedClosed : exitCode.done;
		} finally {
			await closeLater(connecting);
		}
	});
};

function lostWarning({ error, named }: LostContext): string {
	const what = named.length > 0 ? `nodes ${named.join(", ")} are` : "its nodes are";
	return `${what} not in this plan: ${kubectlErrorLine(error)}`;
}

function closeLater(connecting: Promise<FleetConnection>): Promise<void> {
	return connecting.then(
		({ fleet }) => fleet?.close(),
		() => undefined,
	);
}

import { booleanFlag, type CommandRunner, textFlag } from "../flags/command.ts";
import { SuggestedCommands } from "../flags/suggested-commands.ts";
import { isNotFound } from "../kubernetes/api-error.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { runClock } from "../kubernetes/run-clock.ts";
import { NowhereFoundError } from "../nodes/find-in-contexts.ts";
import { explanationDocument } from "../output/explanation-document.ts";
import { explanationLines } from "../output/explanation-lines.ts";
import { helpfulCommands } from "../output/helpful-commands.ts";
import { isDocument, parseReadFormat, writeDocument } from "../output/read-format.ts";
import { explainBudget } from "../plan/explain/explain-budget.ts";
import { explainNode } from "../plan/explain/explain-node.ts";
import { explainPod } from "../plan/explain/explain-pod.ts";
import { type Explanation, exitCodeOf } from "../plan/explain/explanation.ts";
import { type FleetView, viewFleet } from "../plan/explain/fleet-view.ts";
import { readSubject, type SubjectWord } from "../plan/explain/read-subject.ts";
import { suggestName } from "../plan/explain/suggest-name.ts";
import { reportError } from "../run/report-error.ts";
import { sleep } from "../run/run-runtime.ts";
import { withContexts } from "../run/with-contexts.ts";

const explainers = { Pod: explainPod, Node: explainNode, Budget: explainBudget };

const drainFlags = ["force", "ignore-daemonsets", "delete-emptydir-data"];

export const runExplain: CommandRunner = async (input, deps) => {
	const { stdout, stderr } = deps.streams;
	const format = parseReadFormat(textFlag(input, "output"), ["json", "yaml", "wide"]);
	return withContexts(input, deps, async (contexts) => {
		const word = readSubject(input.words, contexts);
		const viewing = viewFleet(contexts);
		// Prevents an unhandled rejection. A wrong name is reported before any failure of the fleet.
		viewing.catch(() => undefined);
		try {
			const explanation = await explain(word, contexts, viewing);
			const commands = helpfulCommands(explanation, {
				context: contexts[0]?.name ?? "",
				suggest: new SuggestedCommands(input.globals),
				drainFlags: drainFlags.filter((name) => booleanFlag(input, name)).map((name) => `--${name}`),
			});
			if (isDocument(format)) writeDocument(stdout, format, explanationDocument(explanation, commands));
			else {
				const wide = format === "wide";
				const options = { columns: stdout.columns, now: Date.now(), wide, commands };
				for (const line of explanationLines(explanation, options)) stdout.write(`${line}\n`);
			}
			return exitCodeOf(explanation.verdict);
		} catch (error) {
			if (!isNotFound(error) && !(error instanceof NowhereFoundError)) throw error;
			const code = reportError(error, { argv: input.argv, stderr });
			const hint = await suggestName(word, contexts, await viewing);
			if (hint !== undefined) stderr.write(`${hint}\n`);
			return code;
		} finally {
			await viewing.then(
				({ close }) => close(),
				() => undefined,
			);
		}
	});

	function explain(
		word: SubjectWord,
		contexts: readonly KubeContext[],
		viewing: Promise<FleetView>,
	): Promise<Explanation> {
		return explainers[word.kind](word, contexts, viewing, {
			force: booleanFlag(input, "force"),
			ignoreDaemonSets: booleanFlag(input, "ignore-daemonsets"),
			deleteEmptyDirData: booleanFlag(input, "delete-emptydir-data"),
			skipWaitAfterSeconds: 0,
			runtime: { now: runClock, sleep },
			now: Date.now(),
		});
	}
};

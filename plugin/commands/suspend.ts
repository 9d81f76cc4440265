// Implements `kubectl xpdb suspend` and `unsuspend`.
import { type BudgetName, formatBudgetName } from "../../disruption/budget/budget.ts";
import { longestSuspensionReason } from "../../disruption/budget/suspension.ts";
import { budgetWord } from "../flags/budget-word.ts";
import { type CommandDependencies, type CommandInput, type CommandRunner, textFlag } from "../flags/command.ts";
import { parseDryRun } from "../flags/dry-run.ts";
import { connectFleet, uncoveredWarning } from "../fleet/connect-fleet.ts";
import type { Fleet } from "../fleet/fleet.ts";
import { userAtHost } from "../fleet/holder-identity.ts";
import { suspensionProblem } from "../fleet/suspension-judgement.ts";
import { readSuspensionTargets } from "../fleet/suspension-target.ts";
import { performRun, type RunResult, type RunWork } from "../run/perform-run.ts";
import { memberAgents } from "../run/eviction-session.ts";
import type { OpenRun } from "../run/run-report.ts";
import { suspensionWork } from "../run/suspension-work.ts";
import { UsageError } from "../terminal/errors.ts";
import type { ExitCode } from "../terminal/exit.ts";

export const runSuspend: CommandRunner = (input, deps) => setSuspended("suspend", input, deps);
export const runUnsuspend: CommandRunner = (input, deps) => setSuspended("unsuspend", input, deps);

function setSuspended(
	command: "suspend" | "unsuspend",
	input: CommandInput,
	deps: CommandDependencies,
): Promise<ExitCode> {
	const call = { command, input, deps };
	const suspend = command === "suspend";
	return performRun(call, {
		readOptions: () => ({
			dryRun: parseDryRun(textFlag(input, "dry-run"), deps.streams.stderr),
			name: budgetWord(command, input.words),
			reason: readReason(textFlag(input, "reason")),
		}),
		async findWork({ dryRun, name: word, reason }, run: OpenRun): Promise<RunWork | RunResult> {
			const name = { namespace: namespaceOf(run), name: word };
			const { fleet, uncovered } = await connectFleet(run.contexts);
			try {
				if (!fleet) throw new UsageError(uncoveredWarning, "Name the contexts of the fleet with --contexts");
				for (const context of uncovered) {
					run.emit({ type: "diagnostic", level: "warning", context: context.name, message: uncoveredWarning });
				}
				const targets = await readSuspensionTargets(fleet, run.contexts, name);
				if (suspend) await refuseInVain(fleet, name);
				const suspension = {
					by: userAtHost(),
					since: new Date().toISOString(),
					...(reason !== undefined && { reason }),
				};
				const members = memberAgents(fleet);
				return suspensionWork({ name, suspend, targets, members, suspension, dryRun }, call, run);
			} finally {
				fleet?.close();
			}
		},
	});
}

async function refuseInVain(fleet: Fleet, name: BudgetName): Promise<void> {
	const problem = await suspensionProblem(fleet, name);
	if (problem === undefined) return;
	throw new UsageError(
		`budget ${formatBudgetName(name)} would still block every eviction, nothing was touched`,
		problem,
	);
}

function readReason(text: string): string | undefined {
	if (text === "") return undefined;
	if (/[\p{Cc}\p{Cf}]/u.test(text)) throw new UsageError("--reason is one line of text");
	if (text.length > longestSuspensionReason) {
		throw new UsageError(`--reason has ${text.length} characters, and may have ${longestSuspensionReason}`);
	}
	return text;
}

/** Throws UsageError if the contexts have different namespaces, because a budget has the same one in the whole fleet. */
function namespaceOf({ contexts }: Pick<OpenRun, "contexts">): string {
	const namespaces = [...new Set(contexts.map(({ namespace }) => namespace))];
	const [namespace = ""] = namespaces;
	if (namespaces.length > 1) {
		throw new UsageError(
			`the contexts have different namespaces (${namespaces.join(", ")}), and a budget has one in all members`,
			"Name it with -n",
		);
	}
	return namespace;
}

// Runs one call of the plugin, from its arguments to the exit code. Streams, environment and signals are passed in, so that tests run the
// same code.
import { parseCommandLine } from "./cli.ts";
import { commands } from "./command-table.ts";
import type { CommandDependencies } from "./flags/command.ts";
import type { GlobalFlags } from "./flags/global-flags.ts";
import { reportError } from "./run/report-error.ts";
import type { ExitCode } from "./terminal/exit.ts";
import { guardStreams } from "./terminal/guarded-streams.ts";

/** The command that completion scripts run for the Tab key. The name is cobra's, as in kubectl. */
const completeCommand = "__complete";
/** The command that requests names for the next Tab, in the background. It gets the same words. */
const backgroundCommand = "__complete-in-background";

export async function run(argv: readonly string[], dependencies: CommandDependencies): Promise<ExitCode> {
	const deps = { ...dependencies, streams: guardStreams(dependencies.streams) };
	let globals: GlobalFlags | undefined;
	try {
		if (argv[0] === completeCommand) {
			const { complete } = await import("./commands/complete.ts");
			const askInBackground = async (words: readonly string[]): Promise<void> =>
				deps.runBeside?.([backgroundCommand, ...words]);
			// Node loads `performance` on first use, and most completions do not need it otherwise.
			return await complete(argv.slice(1), deps, { commands, now: () => process.uptime() * 1_000, askInBackground });
		}
		if (argv[0] === backgroundCommand) {
			const { completeInBackground } = await import("./commands/complete.ts");
			const { whileTerminal } = await import("./terminal/while-terminal.ts");
			return await completeInBackground(argv.slice(1), deps.env, { commands, signal: whileTerminal() });
		}
		const parsed = await parseCommandLine(argv);
		if (parsed.kind === "help") {
			deps.streams.stdout.write(`${parsed.text}\n`);
			return 0;
		}
		({ globals } = parsed.input);
		const runner = await parsed.command.load();
		return await runner(parsed.input, deps);
	} catch (error) {
		const { SuggestedCommands } = await import("./flags/suggested-commands.ts");
		const checkCommand = globals && new SuggestedCommands(globals).xpdbInAll(["check"]);
		return reportError(error, { argv, stderr: deps.streams.stderr, checkCommand });
	}
}

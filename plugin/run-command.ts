// One whole call of the plugin, from the words typed to the exit code. It reads no global, so tests run it as it is.
import type { CommandDependencies } from "./command.ts";
import { parseCommandLine } from "./cli.ts";
import type { ExitCode } from "./exit.ts";
import { guardStreams } from "./guarded-streams.ts";
import { reportError } from "./report-error.ts";

export async function run(argv: readonly string[], dependencies: CommandDependencies): Promise<ExitCode> {
	const deps = { ...dependencies, streams: guardStreams(dependencies.streams) };
	try {
		const parsed = await parseCommandLine(argv);
		if (parsed.kind === "help") {
			deps.streams.stdout.write(`${parsed.text}\n`);
			return 0;
		}
		const runner = await parsed.command.load();
		return await runner(parsed.input, deps);
	} catch (error) {
		return reportError(error, { argv, stderr: deps.streams.stderr });
	}
}

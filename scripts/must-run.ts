import { runCommand } from "./run-command.ts";

/** Returns the program's output. Throws if the program failed. `what` is its purpose, for example "fetch Node 24.21.0". */
export async function mustRun(what: string, command: readonly [string, ...string[]]): Promise<string> {
	const { code, output } = await runCommand(command);
	if (code !== 0) throw new Error(`Cannot ${what}: ${output.trim()}`);
	return output;
}

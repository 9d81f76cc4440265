import { runCommand } from "./run-command.ts";

/** Returns the output of the program. Throws if it failed, with its purpose, for example "fetch Node 24.21.0", in the message. */
export async function mustRun(what: string, command: readonly [string, ...string[]]): Promise<string> {
	const { code, output } = await runCommand(command);
	if (code !== 0) throw new Error(`Cannot ${what}: ${output.trim()}`);
	return output;
}

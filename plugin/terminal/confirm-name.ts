// Asks the user to type a name, before an action whose mistakes would affect others.
import { UsageError } from "./errors.ts";
import type { Streams } from "./streams.ts";

export interface NameConfirmation {
	readonly name: string;
	/** The value of --confirm, or the name itself with -y. "" if neither was given. */
	readonly given: string;
	/** The flag that answers the question, for a run without a terminal. */
	readonly flag: string;
	/** What is about to happen, one line each. */
	readonly summary: readonly string[];
	readonly signal: AbortSignal;
}

/** Whether to continue. Throws UsageError if `given` is another name, or if it is "" and there is no terminal to ask on. */
export async function confirmName(
	{ name, given, flag, summary, signal }: NameConfirmation,
	{ stderr, stdin }: Pick<Streams, "stderr" | "stdin">,
): Promise<boolean> {
	for (const line of summary) stderr.write(`${line}\n`);
	if (given === name) return true;
	if (given !== "") throw new UsageError(`--confirm names "${given}", and it is about "${name}": nothing was touched`);
	if (!stdin.isTerminal) {
		throw new UsageError(
			"this needs a confirmation, and there is no terminal to ask on: nothing was touched",
			`Use ${flag}`,
		);
	}
	stderr.write(`Type ${name} to continue: `);
	const answer = await stdin.readLine(signal);
	if (answer === undefined) stderr.write("\n");
	return answer?.trim() === name;
}

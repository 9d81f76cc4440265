// Asking for a name to be typed, where a mistake would hit others.
import { UsageError } from "./errors.ts";
import type { Streams } from "./streams.ts";

export interface NameConfirmation {
	readonly name: string;
	/** Of --confirm; "" where it was not given. */
	readonly given: string;
	/** What is about to happen, one line each. */
	readonly summary: readonly string[];
	readonly signal: AbortSignal;
}

/** Whether to go on. Throws UsageError for another name in --confirm, and where the question would reach nobody. */
export async function confirmName(
	{ name, given, summary, signal }: NameConfirmation,
	{ stderr, stdin }: Pick<Streams, "stderr" | "stdin">,
): Promise<boolean> {
	for (const line of summary) stderr.write(`${line}\n`);
	if (given === name) return true;
	if (given !== "") throw new UsageError(`--confirm names "${given}", and it is about "${name}": nothing was touched`);
	if (!stdin.isTerminal) {
		throw new UsageError(
			"this needs a confirmation, and there is no terminal to ask on: nothing was touched",
			`Use --confirm=${name}`,
		);
	}
	stderr.write(`Type its name, ${name}, to go on: `);
	const answer = await stdin.readLine(signal);
	if (answer === undefined) stderr.write("\n");
	return answer?.trim() === name;
}

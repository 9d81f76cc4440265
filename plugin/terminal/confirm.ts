// Asks for confirmation, for example before several clusters are changed at once.
import { UsageError } from "./errors.ts";
import type { Streams } from "./streams.ts";

export interface Confirmation {
	/** What is about to happen, one line each. */
	readonly summary: readonly string[];
	/** How many contexts the action changes. One needs no question, as in kubectl. */
	readonly contexts: number;
	readonly assumeYes: boolean;
	readonly signal: AbortSignal;
}

/** Whether to continue. Throws UsageError if it has to ask and there is no terminal to ask on. */
export async function confirm(
	{ summary, contexts, assumeYes, signal }: Confirmation,
	streams: Pick<Streams, "stderr" | "stdin">,
): Promise<boolean> {
	if (contexts < 2) return true;
	if (assumeYes) return true;
	for (const line of summary) streams.stderr.write(`${line}\n`);
	return askToContinue(`${contexts} contexts need a confirmation`, signal, streams);
}

/** Whether the user answers "y" or "yes". Throws UsageError, with `need` in its message, if there is no terminal to ask on. */
export async function askToContinue(
	need: string,
	signal: AbortSignal,
	{ stderr, stdin }: Pick<Streams, "stderr" | "stdin">,
): Promise<boolean> {
	if (!stdin.isTerminal) {
		throw new UsageError(`${need}, and there is no terminal to ask on`, "Use -y to confirm");
	}
	stderr.write("Continue? [y/N] ");
	const answer = await stdin.readLine(signal);
	if (answer === undefined) stderr.write("\n");
	return /^(y|yes)$/i.test(answer?.trim() ?? "");
}

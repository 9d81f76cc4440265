// Asking before several clusters are touched at once.
import { UsageError } from "./errors.ts";
import type { Streams } from "./streams.ts";

export interface Confirmation {
	/** What is about to happen, one line each. */
	readonly summary: readonly string[];
	/** How many contexts it touches: one needs no question, as with kubectl. */
	readonly contexts: number;
	/** -y. */
	readonly assumeYes: boolean;
	readonly signal: AbortSignal;
}

/** Whether to go on. Throws UsageError where the question would reach nobody. */
export async function confirm(
	{ summary, contexts, assumeYes, signal }: Confirmation,
	streams: Pick<Streams, "stderr" | "stdin">,
): Promise<boolean> {
	if (contexts < 2) return true;
	if (assumeYes) return true;
	for (const line of summary) streams.stderr.write(`${line}\n`);
	return askToContinue(`${contexts} contexts need a confirmation`, signal, streams);
}

/** `need`: said where the question would reach nobody. */
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

// One question to every cluster: what is refused is told of all of them at once, so that nobody mends one after the other.
import { UsageError } from "../terminal/errors.ts";

/** In their order. Throws one UsageError for all that were refused, or else what came in the place of an answer first. */
export async function inAllClusters<T, R>(
	clusters: readonly T[],
	ask: (cluster: T) => Promise<R>,
): Promise<readonly R[]> {
	const answers = await Promise.allSettled(clusters.map(ask));
	const refused: UsageError[] = [];
	for (const answer of answers) {
		if (answer.status === "fulfilled") continue;
		const reason: unknown = answer.reason;
		if (!(reason instanceof UsageError)) throw reason;
		refused.push(reason);
	}
	const [first] = refused;
	if (!first) return answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value] : []));
	if (refused.length === 1) throw first;
	const hints = new Set(refused.flatMap(({ hint }) => hint ?? []));
	throw new UsageError(
		refused.map(({ message }) => message).join("\n"),
		hints.size === 0 ? undefined : [...hints].join("\n"),
	);
}

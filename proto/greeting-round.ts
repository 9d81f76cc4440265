// Says how often clusters greet each other. The agents follow it, and the plugin tells from it since when a silent member is silent.

/** The time between two passes of greetings. */
export const greetEveryMs = 30_000;
/**
 * How many members a cluster greets in one pass, so that a fleet's greetings grow with its members and not with their square: with 30
 * members they are 8 a second.
 */
export const mostGreeted = 7;

/** The time in which a cluster greets each of so many other members once. */
export function greetingRoundMs(others: number): number {
	return greetEveryMs * Math.max(1, Math.ceil(others / mostGreeted));
}

/** Describes how the wall clock of a process is wrong. */
export type WrongClock = {
	readonly offsetMs?: number;
	/** How fast the clock runs. For example, 1.1 gains six seconds a minute. */
	readonly rate?: number;
	/** The time between two jumps, from `offsetMs` ahead to `offsetMs` behind, or back. With 0, the clock does not jump. */
	readonly jumpEveryMs?: number;
};

/**
 * Returns the environment of a Node process with a wrong clock, for a plugin, or for agents through giveAgentsEnvironment(). Node loads a
 * module first that makes the clock wrong. This works in the same way on every machine, and affects only the clock that our code reads.
 * libfaketime does neither.
 */
export function wrongClock({ offsetMs = 0, rate = 1, jumpEveryMs = 0 }: WrongClock): Readonly<Record<string, string>> {
	return {
		NODE_OPTIONS: `--import=${new URL("wrong-clock.ts", import.meta.url).href}`,
		XPDB_CLOCK_OFFSET_MS: String(offsetMs),
		XPDB_CLOCK_RATE: String(rate),
		XPDB_CLOCK_JUMP_EVERY_MS: String(jumpEveryMs),
	};
}

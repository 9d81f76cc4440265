export type WrongClock = {
	readonly offsetMs?: number;
	/** The speed of the clock: at 1.1 it gains six seconds a minute. */
	readonly rate?: number;
	/** The interval at which the clock jumps between `offsetMs` ahead and `offsetMs` behind. 0 means no jumps. */
	readonly jumpEveryMs?: number;
};

/**
 * Returns the environment of a Node process with a wrong wall clock, for a plugin or for giveAgentsEnvironment(). Unlike libfaketime, this
 * works on every machine and affects only JavaScript's clock.
 */
export function wrongClock({ offsetMs = 0, rate = 1, jumpEveryMs = 0 }: WrongClock): Readonly<Record<string, string>> {
	return {
		NODE_OPTIONS: `--import=${new URL("wrong-clock.ts", import.meta.url).href}`,
		XPDB_CLOCK_OFFSET_MS: String(offsetMs),
		XPDB_CLOCK_RATE: String(rate),
		XPDB_CLOCK_JUMP_EVERY_MS: String(jumpEveryMs),
	};
}

/** How the wall clock of a process is wrong. */
export type WrongClock = {
	readonly offsetMs?: number;
	/** 1.1 gains six seconds a minute. */
	readonly rate?: number;
	/** From this far ahead to this far behind and back, again and again. */
	readonly jumpEveryMs?: number;
};

/**
 * The environment of a Node process with a wrong clock, for a plugin, or for agents by giveAgentsEnvironment(). It is a module that Node
 * loads first. libfaketime is not used, because this is the same on every machine and affects exactly what our code reads.
 */
export function wrongClock({ offsetMs = 0, rate = 1, jumpEveryMs = 0 }: WrongClock): Readonly<Record<string, string>> {
	return {
		NODE_OPTIONS: `--import=${new URL("wrong-clock.ts", import.meta.url).href}`,
		XPDB_CLOCK_OFFSET_MS: String(offsetMs),
		XPDB_CLOCK_RATE: String(rate),
		XPDB_CLOCK_JUMP_EVERY_MS: String(jumpEveryMs),
	};
}

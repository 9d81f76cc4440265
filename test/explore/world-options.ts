import type { Limits } from "./scenario.ts";
import type { Choices } from "./scheduler.ts";
import type { ProcessOptions } from "./simulated-process.ts";

export interface WorldOptions extends ProcessOptions {
	readonly choices: Choices;
	readonly limits: Limits;
	/** Plugins are rounds without the engine around them. */
	readonly thinDrains: boolean;
	/** Nobody takes holds that are not written. */
	readonly writtenHolds: boolean;
	/** Answers travel on their own. */
	readonly splitAnswers: boolean;
	/** Every process asks the one agent that the scenario names, or the first. */
	readonly oneAgent: boolean;
	/** Calls to Leases need not wait for their moment. */
	readonly leaseCallsAtOnce: boolean;
	/** Calls go over the wire, by the shipped client and server. */
	readonly isWired: boolean;
	/** Agents run the shipped watches on pods and Leases over simulated streams. */
	readonly isStreamed: boolean;
	/** API servers have streamed lists, not only when the run begins. */
	readonly streamsLists: boolean;
	/** What happens is written down, for people. */
	readonly record: boolean;
}

export interface RestoreOptions {
	/** Of this cluster alone. */
	readonly only?: string;
	/** Objects are those of the backup, and the next versions are above all that there ever were (etcdutl --bump-revision). */
	readonly bumped?: boolean;
	/** The API server runs on, and so do its watches. */
	readonly isHot?: boolean;
}

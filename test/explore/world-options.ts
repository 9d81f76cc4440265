import type { Limits } from "./scenario.ts";
import type { Choices } from "./scheduler.ts";
import type { ProcessOptions } from "./simulated-process.ts";

export interface WorldOptions extends ProcessOptions {
	readonly choices: Choices;
	readonly limits: Limits;
	/** Plugins are thin processes: rounds without the engine around them (drain-process.ts). */
	readonly thinDrains: boolean;
	readonly writtenHolds: boolean;
	/** Answers arrive in a step of their own. */
	readonly splitAnswers: boolean;
	/**
	 * If true, a plugin asks the agent that the scenario names for it, or else the first agent of each cluster. If false, a plugin without
	 * a named agent asks any agent.
	 */
	readonly oneAgent: boolean;
	/** Calls to Leases, except lists, are executed and answered at once. */
	readonly leaseCallsAtOnce: boolean;
	/** Calls go over the wire, through the shipped client and server. */
	readonly isWired: boolean;
	/** Agents run the shipped watches on pods and Leases over simulated streams. */
	readonly isStreamed: boolean;
	/** API servers have streamed lists at any time, and not only when the run begins. */
	readonly streamsLists: boolean;
	/** Everything that happens is recorded in the history. */
	readonly record: boolean;
}

export interface RestoreOptions {
	/** Restores only this cluster. By default all. */
	readonly only?: string;
	/** The objects are those of the backup, and new versions are above all earlier ones (etcdutl --bump-revision). */
	readonly bumped?: boolean;
	/** The API server keeps running, and so do its watches. */
	readonly isHot?: boolean;
}

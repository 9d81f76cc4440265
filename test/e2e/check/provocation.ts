// Describes how to get a code of `check` on real clusters: the fault to cause, what is found, and how it is mended.
import type { CheckReason } from "../../../plugin/check/check-reason.ts";

export interface Provocation {
	readonly reason: CheckReason;
	/** The fault in words. */
	readonly fault: string;
	/** The finding's context. Left out if the finding is about the whole fleet. */
	readonly cluster?: string;
	readonly provoke: () => Promise<unknown>;
	readonly says: string | RegExp;
	/** The command that the finding suggests. Left out if it suggests none. */
	readonly fix?: string | RegExp;
	/** How the fault is mended: by that command ("fix") or by this function. By default by `end`, if the command only shows more. */
	readonly mend?: "fix" | (() => Promise<unknown>);
	/**
	 * The exit code of the command while the fault lasts. By default 0. It is another if the command asks the part that is silent or
	 * refuses.
	 */
	readonly fixCode?: number;
	/** Restores everything as it was before. */
	readonly end: () => Promise<unknown>;
}

/** Faults that do not hide each other, so that one check finds them all. */
export interface Scene {
	readonly name: string;
	/** The arguments of the check. */
	readonly args: readonly string[];
	readonly rows: readonly Provocation[];
	/** Reasons that these faults also cause. Any other finding is an error. */
	readonly besides?: readonly CheckReason[];
	/** Reasons that are found before the faults and stay. */
	readonly always?: readonly CheckReason[];
	/** The arguments of the last check, if the faults lie in the contexts themselves. */
	readonly after?: readonly string[];
}

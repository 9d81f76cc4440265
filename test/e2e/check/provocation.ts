// A code of `check`, and how it is got on real clusters: the fault that is put there, what is found, and what makes it good again.
import type { CheckReason } from "../../../plugin/check/check-reason.ts";

export interface Provocation {
	readonly reason: CheckReason;
	/** In words. */
	readonly fault: string;
	/** By its context; left out: found of the fleet. */
	readonly cluster?: string;
	readonly provoke: () => Promise<unknown>;
	readonly says: string | RegExp;
	/** The command that is told; left out where there is none. */
	readonly fix?: string | RegExp;
	/** What makes it good again: that command, or this; left out: `end`, where the command shows more and changes nothing. */
	readonly mend?: "fix" | (() => Promise<unknown>);
	/** With what it ends while the fault lasts; 0, unless it asks the very part that is silent or refuses. */
	readonly fixCode?: number;
	/** All as it was before. */
	readonly end: () => Promise<unknown>;
}

/** Faults that do not hide each other, found by one check. */
export interface Scene {
	readonly name: string;
	/** Of the check. */
	readonly args: readonly string[];
	readonly rows: readonly Provocation[];
	/** What comes of these faults besides; anything else is one finding too many. */
	readonly besides?: readonly CheckReason[];
	/** What is there before, and stays. */
	readonly always?: readonly CheckReason[];
	/** Of the check in the end, where what is found is a matter of these very contexts. */
	readonly after?: readonly string[];
}

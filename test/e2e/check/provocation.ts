// Describes how to provoke a code of `check` on real clusters: the fault, the finding, and the repair.
import type { CheckReason } from "../../../plugin/check/check-reason.ts";

export interface Provocation {
	readonly reason: CheckReason;
	readonly fault: string;
	/** The finding's context. Left out if the finding is about the whole fleet. */
	readonly cluster?: string;
	readonly provoke: () => Promise<unknown>;
	readonly says: string | RegExp;
	/** The command that the finding suggests, if any. */
	readonly fix?: string | RegExp;
	/** What repairs the fault: the suggested command ("fix") or this function. By default `end`. */
	readonly mend?: "fix" | (() => Promise<unknown>);
	/** The command's exit code while the fault lasts, by default 0. */
	readonly fixCode?: number;
	readonly end: () => Promise<unknown>;
}

/** Faults that do not hide each other, so that one check finds all. */
export interface Scene {
	readonly name: string;
	readonly args: readonly string[];
	readonly rows: readonly Provocation[];
	/** Reasons that the faults also cause. Any other finding is an error. */
	readonly besides?: readonly CheckReason[];
	/** Reasons that are found before the faults and stay. */
	readonly always?: readonly CheckReason[];
	/** The arguments of the last check, by default `args`. */
	readonly after?: readonly string[];
}

// Describes how to provoke a code of `check` on real clusters: the fault, the finding, and the repair.
import type { CheckReason } from "../../../plugin/check/check-reason.ts";

export interface Provocation {
	readonly reason: CheckReason;
	readonly fault: string;
	/** The context that the finding names, or the member if no context leads to it. Left out if the finding names neither. */
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
	/** Reasons that the faults also cause. A reason that is neither here nor in `rows` or `always` fails the scene. */
	readonly besides?: readonly CheckReason[];
	/** Reasons that a check may report with and without the faults. */
	readonly always?: readonly CheckReason[];
	/** The arguments of the last check, by default `args`. */
	readonly after?: readonly string[];
}

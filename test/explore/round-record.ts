// The judge's record of one round.
import type { SimulatedProcess } from "./simulated-process.ts";

export interface RoundRecord {
	readonly process: SimulatedProcess;
	readonly startedAt: number;
	readonly config: number;
	/** Acquisitions that the round has committed, or tried to commit. */
	readonly committed: { readonly cluster: string; readonly nonce: string }[];
	/** By cluster: the revision of its slowest view when the round began. Oracle.limitViews() lowers it. */
	readonly viewsAt: Map<string, number>;
	/** The number of faults before the round. */
	readonly faults: number;
	/** The ids of the round's acquisitions and reservations. */
	readonly ids: string[];
	/** When the first commit was sent, on the clock of the process. */
	committedAt: number | undefined;
	decidedAt: number;
	/** When the first commit was written, on the clock of the process. */
	stoodAt: number | undefined;
	decidedConfig: number;
	/** By uid of a granted pod: the budgets under which it was granted. */
	readonly granted: Map<string, readonly string[]>;
}

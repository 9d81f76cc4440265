// One round as the judge knows it.
import type { SimulatedProcess } from "./simulated-process.ts";

/** One round of one process, and what it can have known. */
export interface RoundRecord {
	readonly process: SimulatedProcess;
	readonly startedAt: number;
	readonly config: number;
	/** Acquisitions that it has committed, or tried to. */
	readonly committed: { readonly cluster: string; readonly nonce: string }[];
	/** How far the slowest view of each cluster was when it began. */
	readonly viewsAt: Map<string, number>;
	/** How many faults had happened. */
	readonly faults: number;
	/** Of its acquisitions and reservations. */
	readonly ids: string[];
	/** When the first commit was sent, on the clock of the process. */
	committedAt: number | undefined;
	decidedAt: number;
	/** When the first commit was written, on the clock of the process. */
	stoodAt: number | undefined;
	decidedConfig: number;
	/** Budgets under which it was granted each pod, by uid. */
	readonly granted: Map<string, readonly string[]>;
}

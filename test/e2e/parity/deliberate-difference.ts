// Describes a deliberate difference between kubectl and kubectl xpdb.
import type { Outcome } from "./outcome.ts";

export interface DeliberateDifference {
	readonly subject: string;
	readonly kubectl: string;
	readonly ours: string;
	readonly reason: string;
	/** The names of situations that show the difference. */
	readonly situations: readonly string[];
	/** Assertions of kubectl's own test that do not hold for xpdb, each as a part of a line that only this line contains. */
	readonly assertions?: readonly string[];
	/** Changes kubectl's outcome into xpdb's. */
	readonly apply: (outcome: Outcome) => Outcome;
}

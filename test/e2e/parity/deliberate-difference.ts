// Describes a deliberate difference between kubectl and kubectl xpdb.
import type { Outcome } from "./outcome.ts";

export interface DeliberateDifference {
	/** What the difference is about. */
	readonly subject: string;
	readonly kubectl: string;
	readonly ours: string;
	readonly reason: string;
	/** The situations that show it, by name. */
	readonly situations: readonly string[];
	/**
	 * Assertions of kubectl's own test of node management that do not hold for xpdb. Each is a part of a line that only this line contains.
	 */
	readonly assertions?: readonly string[];
	/** Changes kubectl's outcome into ours. */
	readonly apply: (outcome: Outcome) => Outcome;
}

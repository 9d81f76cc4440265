// A difference between kubectl and kubectl xpdb that is meant.
import type { Outcome } from "./outcome.ts";

export interface DeliberateDifference {
	/** Where it shows. */
	readonly subject: string;
	readonly kubectl: string;
	readonly ours: string;
	readonly reason: string;
	/** The situations that show it, by name. */
	readonly situations: readonly string[];
	/** Assertions of kubectl's own test of node management that do not hold for us: a part of the line, which only that one has. */
	readonly assertions?: readonly string[];
	/** What becomes of kubectl's outcome. */
	readonly apply: (outcome: Outcome) => Outcome;
}

// Describes a measurement and its results.
import type { Bench } from "./bench.ts";

export interface Figures {
	/** One value per run, by ratio. */
	readonly ratios: Readonly<Record<string, readonly number[]>>;
	/** The reason why a ratio has no value, by ratio. */
	readonly missing?: Readonly<Record<string, string>>;
	/** Other observations, for the JSON output. */
	readonly details?: Readonly<Record<string, unknown>>;
}

export interface Measurement {
	readonly name: string;
	/** With --only, this name selects all measurements of the group. */
	readonly group?: string;
	readonly ratios: readonly string[];
	/** The clusters that it runs on. Those for "crowd" and "screens" get thousands of pods. */
	readonly on: "fleet" | "crowd" | "wan" | "screens";
	/** How often the measurement repeats. A short run leaves it out if `short` is 0. */
	readonly runs: { readonly full: number; readonly short: number };
	/**
	 * The duration on an idle machine: `once`, plus `each` per run. If left out, a full run always repeats the measurement `runs.full` times.
	 */
	readonly seconds?: { readonly once: number; readonly each: number };
	/** Whether it runs only if selected by name. */
	readonly onlyByName?: boolean;
	measure(bench: Bench, runs: number): Promise<Figures>;
}

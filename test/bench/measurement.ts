// Defines a measurement: it gives some of the ratios, from a given number of runs.
import type { Bench } from "./bench.ts";

/** One number for each run. */
export interface Figures {
	/** By the ratio's name. */
	readonly ratios: Readonly<Record<string, readonly number[]>>;
	/** Why a ratio has no number, by its name. */
	readonly missing?: Readonly<Record<string, string>>;
	/** Other observations, for the JSON. */
	readonly details?: Readonly<Record<string, unknown>>;
}

export interface Measurement {
	readonly name: string;
	/** A name by which several measurements are chosen at once. */
	readonly group?: string;
	readonly ratios: readonly string[];
	/** The clusters that it runs on: three with room, one with 10,000 pods, three over slow links, or three that become crowded. */
	readonly on: "fleet" | "crowd" | "wan" | "screens";
	/** How many times it runs. It is left out of a short run if `short` is 0. */
	readonly runs: { readonly full: number; readonly short: number };
	/** What it takes in a quiet hour. Without this, it is repeated in full, however long that takes. */
	readonly seconds?: { readonly once: number; readonly each: number };
	/** Whether it takes too long, or is too special, for a run of everything. */
	readonly onlyByName?: boolean;
	measure(bench: Bench, runs: number): Promise<Figures>;
}

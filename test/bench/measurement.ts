// What a measurement is: it gives some of the ratios, from as many runs as it is told.
import type { Bench } from "./bench.ts";

/** One number for each run. */
export interface Figures {
	/** By the ratio's name. */
	readonly ratios: Readonly<Record<string, readonly number[]>>;
	/** Why a ratio has no number, by its name. */
	readonly missing?: Readonly<Record<string, string>>;
	/** What else was seen, for the JSON. */
	readonly details?: Readonly<Record<string, unknown>>;
}

export interface Measurement {
	readonly name: string;
	/** By which several are chosen at once. */
	readonly group?: string;
	readonly ratios: readonly string[];
	/** The clusters that it runs on: three of them with room, one with 10,000 pods, three over slow links, three that become
	 * crowded. */
	readonly on: "fleet" | "crowd" | "wan" | "screens";
	/** How often it runs; left out of a short run where `short` is 0. */
	readonly runs: { readonly full: number; readonly short: number };
	/** What it takes in a quiet hour. Left out, it is repeated in full, however long that takes. */
	readonly seconds?: { readonly once: number; readonly each: number };
	/** Too long, or too much of its own, for a run of everything. */
	readonly onlyByName?: boolean;
	measure(bench: Bench, runs: number): Promise<Figures>;
}

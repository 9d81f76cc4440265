// Saves the counts of a scenario's long runs in the user's cache folder: one file for each scenario, seed and hash of the sources.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { emptySum, type ScenarioSum } from "./scenario-sum.ts";

export interface CountsKey {
	readonly scenario: string;
	readonly seed: number;
	/** The result of DrivenHash.of() for the scenario. */
	readonly hash: string;
}

export function countsFolder(environment: Readonly<Record<string, string | undefined>> = process.env): string {
	const { XDG_CACHE_HOME: cache } = environment;
	return join(cache ? cache : join(homedir(), ".cache"), "xpdb", "exploration");
}

/** Returns the saved counts, or an empty sum if there are none or they cannot be read. */
export function readCounts(folder: string, key: CountsKey): ScenarioSum {
	try {
		const { seen, seenOnce, ...counts } = JSON.parse(readFileSync(fileOf(folder, key), "utf8")) as SavedCounts;
		return { ...counts, seen: new Set(numbers(seen)), seenOnce: new Set(numbers(seenOnce)) };
	} catch {
		return emptySum();
	}
}

/** Replaces the saved counts atomically. */
export function writeCounts(folder: string, key: CountsKey, sum: ScenarioSum): void {
	mkdirSync(folder, { recursive: true });
	const saved: SavedCounts = { ...sum, seen: text(sum.seen), seenOnce: text(sum.seenOnce) };
	const file = fileOf(folder, key);
	writeFileSync(`${file}.${process.pid}.part`, JSON.stringify(saved));
	renameSync(`${file}.${process.pid}.part`, file);
}

type SavedCounts = Omit<ScenarioSum, "seen" | "seenOnce"> & { readonly seen: string; readonly seenOnce: string };

function fileOf(folder: string, { scenario, seed, hash }: CountsKey): string {
	return join(folder, `${scenario}-${seed}-${hash}.json`);
}

function text(states: ReadonlySet<number>): string {
	return Buffer.from(Uint32Array.from(states).buffer).toString("base64");
}

function numbers(states: string): Uint32Array {
	return new Uint32Array(new Uint8Array(Buffer.from(states, "base64")).buffer);
}

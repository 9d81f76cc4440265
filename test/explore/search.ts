// Searches a small configuration exhaustively: depth first over sequences of choices. Each sequence is run from the start.
//
// A state is what every server holds, what every process has been told so far, its clock, and what is on its way. The code is
// deterministic, so equal states have equal futures, and each state is entered once. The search is bounded as follows:
// - The scenario's `search` limits faults, clock jumps, drains and events.
// - A timer fires only if no message and no watch step is left, and then it is the only step that is tried.
// - An answer arrives at the moment of its execution.
// - Every plugin asks the first agent of each cluster, or the one that the scenario names for it.
// `isComplete` is false if a violation was found, or if the limit of states, or of steps in one run, cut the search.
import { createHash } from "node:crypto";
import type { Violation } from "./oracle.ts";
import { runSearched } from "./run.ts";
import type { Scenario } from "./scenario.ts";
import type { World } from "./world.ts";

export interface SearchResult {
	readonly runs: number;
	readonly states: number;
	readonly isComplete: boolean;
	readonly failure?: { readonly choices: readonly number[]; readonly violation: Violation };
}

export interface SearchOptions {
	readonly mostStates: number;
	readonly mostSteps: number;
	readonly onProgress?: (states: number) => void;
}

export async function search(scenario: Scenario<World>, options: SearchOptions): Promise<SearchResult> {
	const { mostStates, mostSteps, onProgress } = options;
	const seen = new Set<string>();
	const waiting: (readonly number[])[] = [[]];
	const isNew = (fingerprint: string): boolean => {
		const key = createHash("sha1").update(fingerprint).digest("base64");
		if (seen.has(key)) return false;
		seen.add(key);
		return true;
	};
	let runs = 0;
	let isCut = false;
	for (let prefix = waiting.pop(); prefix; prefix = waiting.pop()) {
		const run = await runSearched(scenario, prefix, { isNew, mostSteps });
		runs += 1;
		if (run.violation) {
			return { runs, states: seen.size, isComplete: false, failure: { choices: run.taken, violation: run.violation } };
		}
		isCut ||= run.cut;
		for (let at = prefix.length; at < run.widths.length; at += 1) {
			for (let choice = (run.widths[at] ?? 1) - 1; choice > 0; choice -= 1) {
				waiting.push([...run.taken.slice(0, at), choice]);
			}
		}
		if (runs % 500 === 0) onProgress?.(seen.size);
		if (seen.size >= mostStates) {
			isCut ||= waiting.length > 0;
			break;
		}
	}
	return { runs, states: seen.size, isComplete: !isCut };
}

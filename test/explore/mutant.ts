// A mutant is the shipped code with one safeguard removed. The exploration, the membership model or a fuzz target must catch it, unless it
// is harmless.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { type CodeEdit, editCode } from "./code-pattern.ts";
import { loadSources, type Sources } from "./load-sources.ts";

/** An edit of plain text that occurs exactly once in the file. Fuzz mutants use it. */
export interface TextEdit {
	readonly file: string;
	readonly symbol?: undefined;
	readonly find: string;
	readonly replace: string;
}

export interface Mutant {
	readonly name: string;
	/** The safeguard that is removed, in a sentence. */
	readonly without: string;
	/** Scenarios of which at least one must catch the mutant, the likeliest first. Empty for a mutant of a fuzz target. */
	readonly scenarios: readonly string[];
	readonly edits: readonly (CodeEdit | TextEdit)[];
	/**
	 * Why no run can tell the mutant from the shipped code: another safeguard does the same work. Such a mutant must not be caught; if it
	 * is, the reason is no longer true.
	 */
	readonly harmless?: string;
}

const root = fileURLToPath(new URL("../../", import.meta.url));

/** Returns the mutated files by URL. Throws if an edit does not fit the current code. */
export function mutatedSources(mutant: Mutant): Sources {
	const sources = new Map<string, string>();
	for (const edit of mutant.edits) {
		const original = readFileSync(join(root, edit.file), "utf8");
		const text = sources.get(edit.file) ?? original;
		try {
			sources.set(edit.file, edit.symbol === undefined ? editText(text, edit) : editCode(text, edit, original));
		} catch (error) {
			throw new Error(`Mutant "${mutant.name}" does not fit any more: ${messageOf(error)}`, { cause: error });
		}
	}
	return new Map([...sources].map(([file, text]) => [pathToFileURL(join(root, file)).href, text]));
}

function editText(text: string, { file, find, replace }: TextEdit): string {
	const pieces = text.split(find);
	if (pieces.length !== 2) throw new Error(`in ${file} this stands ${pieces.length - 1} times, not once:\n${find}`);
	return pieces.join(replace);
}

function messageOf(error: unknown): string {
	return error instanceof Error ? error.message : String(error);
}

/** Makes this thread load the mutant in place of the shipped code. Call it before any of that code is loaded. */
export function loadMutant(mutant: Mutant): void {
	loadSources(mutatedSources(mutant));
}

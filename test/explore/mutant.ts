// A mutant: the shipped code with one safeguard taken out. The exploration has to notice.
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

export interface Edit {
	/** From the root of the repository. */
	readonly file: string;
	/** Must stand there exactly once. */
	readonly find: string;
	readonly replace: string;
}

export interface Mutant {
	readonly name: string;
	/** What is taken out, in a sentence. */
	readonly without: string;
	/** Scenarios of which at least one must catch it, the likeliest first. */
	readonly scenarios: readonly string[];
	readonly edits: readonly Edit[];
	/**
	 * Why no run can tell it from the shipped code: another safeguard does the same work. Such a mutant is run all the
	 * same, and must not be caught: if it ever is, the reason does not hold any more.
	 */
	readonly harmless?: string;
}

const root = fileURLToPath(new URL("../../", import.meta.url));

/** The mutated texts by file; throws where an edit does not fit the code as it is now. */
export function mutatedSources(mutant: Mutant): ReadonlyMap<string, string> {
	const sources = new Map<string, string>();
	for (const { file, find, replace } of mutant.edits) {
		const text = sources.get(file) ?? readFileSync(join(root, file), "utf8");
		const pieces = text.split(find);
		if (pieces.length !== 2) {
			throw new Error(
				`Mutant "${mutant.name}" does not fit ${file} any more: its text stands there ${pieces.length - 1} times:\n${find}`,
			);
		}
		sources.set(file, pieces.join(replace));
	}
	return sources;
}

/** From now on this thread loads the mutant in the place of the shipped code: call it before anything else is loaded. */
export function loadMutant(mutant: Mutant): void {
	const sources = new Map<string, string>();
	for (const [file, text] of mutatedSources(mutant)) sources.set(pathToFileURL(join(root, file)).href, text);
	registerHooks({
		load: (url, context, nextLoad) => {
			const source = sources.get(url);
			return source === undefined
				? nextLoad(url, context)
				: { format: "module-typescript", source, shortCircuit: true };
		},
	});
}

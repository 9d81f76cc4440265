// Hashes everything that the course of a schedule depends on: the driven sources, the exploration itself and the scenario. The counts of a
// long run stay valid while the hash is the same. A commit that changes none of these sources changes no schedule. Comments and types
// change none either, so they do not count, except inside the functions of a scenario, which are hashed as they are written.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { transformSync } from "esbuild";
import type { Scenario } from "./scenario.ts";
import type { World } from "./world.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
/** The module that runs a schedule. */
const entry = "test/explore/run.ts";
const scenarioFiles = /^test\/explore\/[\w-]*scenarios\.ts$/;
/** Imports in the style of this repository. Type-only imports are left out, because they change no schedule. */
const imported = /^(?:import|export)\b(?! type\b)([^;]*?)from "(\.[^"]+)"/gm;
const typesAlone = /^ \{(?:\s*type [^,}]+,?)+\s*\} $/;

export class DrivenHash {
	readonly #sources: string;
	readonly #scenarioLines: readonly string[];

	constructor() {
		const hash = createHash("sha256");
		const files = [...reachableFrom([entry, "test/explore/scenarios.ts"])].toSorted();
		for (const file of files) hash.update(`${file}\n${codeOf(withoutScenarios(file))}\n`);
		this.#sources = hash.digest("hex");
		this.#scenarioLines = files.filter((file) => scenarioFiles.test(file)).flatMap((file) => read(file).split("\n"));
	}

	/** Returns the hash for the schedules of one scenario. */
	of(scenario: Scenario<World>): string {
		return createHash("sha256")
			.update(`${this.#sources} ${textOf(scenario)} ${this.#linesWith(scenario.name)}`)
			.digest("hex")
			.slice(0, 16);
	}

	/**
	 * Returns the lines that name a scenario. If a helper makes the scenario, the source of its functions does not show the helper's
	 * arguments.
	 */
	#linesWith(name: string): string {
		return this.#scenarioLines.filter((line) => line.includes(`"${name}"`)).join("\n");
	}
}

/** Returns these files of the repository, and all files that they import values from, directly or not. */
export function reachableFrom(entries: readonly string[]): ReadonlySet<string> {
	const found = new Set<string>();
	const waiting = [...entries];
	for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
		if (found.has(file)) continue;
		found.add(file);
		const text = read(file);
		for (const [, names = "", path = ""] of text.matchAll(imported)) {
			if (typesAlone.test(names)) continue;
			const target = relative(root, join(root, dirname(file), path));
			if (target.endsWith(".ts")) waiting.push(target);
		}
	}
	return found;
}

/** Returns the text of a file, without its list of scenarios. So a new scenario does not change the hash of the others. */
function withoutScenarios(file: string): string {
	const text = read(file);
	return scenarioFiles.test(file) ? text.replace(/^export const \w+: [^=]*= \[\n[\s\S]*?^\];\n/gm, "") : text;
}

/** Returns the program without its comments, types and layout. */
export function codeOf(text: string): string {
	// Unused imports are kept, because an import runs its module.
	const tsconfigRaw = { compilerOptions: { verbatimModuleSyntax: true } };
	return transformSync(text, { loader: "ts", minifyWhitespace: true, legalComments: "none", tsconfigRaw }).code;
}

function read(file: string): string {
	return readFileSync(join(root, file), "utf8");
}

/** Returns the whole scenario as text, with the source of its functions. */
function textOf(scenario: Scenario<World>): string {
	return JSON.stringify(scenario, (_, value: unknown) => (typeof value === "function" ? String(value) : value));
}

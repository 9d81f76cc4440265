// Hashes everything that the course of a schedule depends on: the driven sources, the exploration itself and the scenario. The counts of a
// long run stay valid while the hash is the same. Comments and types are left out, with two exceptions. The functions of a scenario are
// hashed with their comments, as Node loads them. The lines that name the scenario are hashed as they are written.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { transformSync } from "esbuild";
import type { Scenario } from "./scenario.ts";
import type { World } from "./world.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const entry = "test/explore/run.ts";
const scenarioFiles = /^test\/explore\/[\w-]*scenarios\.ts$/;
/** Matches imports in the style of this repository, except type-only imports, which change no schedule. */
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

	of(scenario: Scenario<World>): string {
		return createHash("sha256")
			.update(`${this.#sources} ${textOf(scenario)} ${this.#linesWith(scenario.name)}`)
			.digest("hex")
			.slice(0, 16);
	}

	/**
	 * Returns the lines that name a scenario. If a helper made the scenario, these lines have the helper's arguments, which the source of the
	 * scenario's functions does not show.
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

/** Leaves out the list of scenarios, so that a new scenario does not change the hash of the others. */
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

function textOf(scenario: Scenario<World>): string {
	return JSON.stringify(scenario, (_, value: unknown) => (typeof value === "function" ? String(value) : value));
}

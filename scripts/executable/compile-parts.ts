// Run by the build as `compile-parts.ts FOLDER WORDS...`: runs the parts in the folder with these words, and leaves there what V8
// compiled of each, on top of what is there already. So the code holds what starts need, and not all that could be compiled.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Script } from "node:vm";
import { type PartName, startProgram } from "./start-program.ts";

const [node = "", , folder = "", ...words] = process.argv;
process.argv = [node, "kubectl-xpdb", ...words];

const scripts = new Map<PartName, Script>();
process.on("exit", () => {
	for (const [name, script] of scripts) writeFileSync(join(folder, `${name}.code`), script.createCachedData());
});
await startProgram({
	read: (name) => {
		const code = join(folder, `${name}.code`);
		return {
			source: readFileSync(join(folder, `${name}.js`), "latin1"),
			...(existsSync(code) && { code: readFileSync(code) }),
		};
	},
	compiled: (name, script) => {
		if (script.cachedDataRejected === true) throw new Error(`V8 refuses the code of ${name} that it has just compiled`);
		scripts.set(name, script);
	},
});

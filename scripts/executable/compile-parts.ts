// Run by the build as `compile-parts.ts FOLDER STREAMS WORDS...`: runs the parts in the folder with these words, and leaves there what V8
// compiled of each, on top of what is there already. So the code holds what starts need, and not all that could be compiled. STREAMS is
// "terminal" where they are to be taken for one, or "pipes".
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Script } from "node:vm";
import { pretendTerminal } from "./pretended-terminal.ts";
import { codeFileOf, type PartName, startProgram } from "./start-program.ts";

const [node = "", , folder = "", streams = "", ...words] = process.argv;
process.argv = [node, "kubectl-xpdb", ...words];
if (streams === "terminal") pretendTerminal();
// Whoever completes words gives up 100 ms after the start of the process: nothing is compiled yet, and so nothing would be. For that call
// alone the process is to start later: others would wait for it, evict for as long before its first try.
if (words[0] === "__complete") {
	const uptime = process.uptime.bind(process);
	const later = uptime() + 60;
	process.uptime = () => uptime() - later;
}

const scripts = new Map<PartName, Script>();
process.on("exit", () => {
	for (const [name, script] of scripts) writeFileSync(join(folder, codeFileOf(name, words)), script.createCachedData());
});
await startProgram({
	read: (name) => {
		const code = join(folder, codeFileOf(name, words));
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

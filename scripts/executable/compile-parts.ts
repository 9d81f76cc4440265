// The build runs this as `compile-parts.ts FOLDER STREAMS WORDS...`. It runs the parts in FOLDER with these words, and adds the code that
// V8 compiled to the .code files there. STREAMS is "terminal" if the streams should look like a terminal, and "pipes" otherwise.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Script } from "node:vm";
import { holdTimers } from "./hold-timers.ts";
import { pretendTerminal } from "./pretended-terminal.ts";
import { codeFileOf, type PartName, startProgram } from "./start-program.ts";

const [node = "", , folder = "", streams = "", ...words] = process.argv;
process.argv = [node, "kubectl-xpdb", ...words];
if (streams === "terminal") pretendTerminal();
holdTimers();
// Completion gives up 100 ms after the start of the process, which is too early while nothing is compiled. So the process pretends to start
// a minute later.
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

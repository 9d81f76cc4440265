// Builds the agent and the plugin that a fleet runs, with scripts/build.ts.
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { SetupError } from "../../demo/machine/setup-error.ts";
import { repositoryRoot } from "../../scripts/repository-root.ts";
import { runCommand } from "../../scripts/run-command.ts";

const programs = ["agent.js", "kubectl-xpdb.js"];
const sources = ["agent", "disruption", "plugin", "proto", "scripts/bundle.ts", "package-lock.json"];

interface BuildOptions {
	/** Whether to also build if a program is older than a source. Otherwise, all programs are built only if one is missing. */
	readonly ifOld: boolean;
	readonly log: (line: string) => void;
}

export async function buildPrograms(folder: string, { ifOld, log }: BuildOptions): Promise<void> {
	const files = programs.map((program) => join(folder, program));
	const of = ifOld ? sources.map((path) => join(repositoryRoot, path)) : [];
	if (!areOlder(files, of)) return;
	log("Building the agent and the plugin");
	const { code, output } = await runCommand([process.execPath, "scripts/build.ts", "--test"]);
	if (code !== 0) {
		throw new SetupError(`Cannot build the agent and the plugin: scripts/build.ts ended with code ${code}`, {
			hint: output.trim(),
		});
	}
}

/** Returns whether one of the files is missing or older than a source. A source is a file or a folder. */
export function areOlder(files: readonly string[], from: readonly string[]): boolean {
	const builtAt = Math.min(...files.map((file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? -1));
	return builtAt < Math.max(0, ...from.flatMap(filesIn).map((path) => statSync(path).mtimeMs));
}

function filesIn(path: string): readonly string[] {
	if (!statSync(path).isDirectory()) return [path];
	const entries = readdirSync(path, { recursive: true, withFileTypes: true });
	return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

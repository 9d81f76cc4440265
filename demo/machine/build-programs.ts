// Builds the plugin and the agent as shipped if the build is missing or older than its sources.
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { repositoryRoot } from "../../scripts/repository-root.ts";
import { runCommand } from "../../scripts/run-command.ts";
import { SetupError } from "./setup-error.ts";

const sources = ["disruption", "proto", "agent", "plugin", "scripts", "package.json"];

export interface Programs {
	readonly agent: string;
	readonly plugin: string;
}

/** Rejects with SetupError if the build fails. */
export async function buildPrograms(onBuild: () => void): Promise<Programs> {
	const programs = {
		agent: join(repositoryRoot, "dist", "agent.js"),
		plugin: join(repositoryRoot, "dist", "kubectl-xpdb.js"),
	};
	const newest = Math.max(...sources.map((path) => changedAt(join(repositoryRoot, path))));
	if (Object.values(programs).every((program) => existsSync(program) && changedAt(program) >= newest)) return programs;
	onBuild();
	const { code, output } = await runCommand([process.execPath, "scripts/build.ts"]);
	if (code !== 0) throw new SetupError("Cannot build the plugin and the agent", { hint: output.trim() });
	return programs;
}

function changedAt(path: string): number {
	const { mtimeMs } = statSync(path);
	if (!statSync(path).isDirectory()) return mtimeMs;
	const files = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
	return Math.max(0, ...files.map((file) => statSync(join(file.parentPath, file.name)).mtimeMs));
}

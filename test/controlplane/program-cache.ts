// Builds programs with Go and keeps them in ~/.cache/xpdb, or in the folder xpdb of XDG_CACHE_HOME. The folders are named by a hash of
// everything that determines the programs, and by the Go version.
import { accessSync, constants, existsSync, mkdirSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { messageOf, SetupError } from "../../demo/machine/setup-error.ts";
import { ProgramsUnavailableError } from "./fleet-errors.ts";
import { buildPrograms, findGo, sourceKey } from "./go-build.ts";
import type { GoPrograms } from "./go-programs.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

export interface ProgramCacheOptions {
	readonly log: (line: string) => void;
	readonly environment?: Environment;
}

/**
 * Returns the folder of the programs. Builds them if they are missing.
 *
 * @throws ProgramsUnavailableError if there is no build and none can be made.
 */
export async function findOrBuildPrograms(
	programs: GoPrograms,
	{ log, environment = process.env }: ProgramCacheOptions,
): Promise<string> {
	const { name, what, otherwise } = programs;
	const root = join(environment["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "xpdb", name);
	const source = sourceKey(programs);
	const isComplete = (folder: string) => programs.programs.every((program) => existsSync(join(folder, program)));
	const go = findGo();
	if (go.kind === "missing") {
		const cached = entriesOf(root)
			.filter((entry) => entry.startsWith(`${source}-`))
			.map((entry) => join(root, entry))
			.find(isComplete);
		if (cached !== undefined) return cached;
		throw new ProgramsUnavailableError(`Cannot build ${what}: ${go.reason}, and nothing built before`, {
			hint: ["Install Go 1.26 or newer", ...(otherwise === undefined ? [] : [otherwise])].join(", "),
		});
	}
	const target = join(root, `${source}-${go.version}`);
	if (isComplete(target)) return target;
	try {
		mkdirSync(root, { recursive: true });
		accessSync(root, constants.W_OK);
	} catch (error) {
		throw new SetupError(`Cannot keep what was built of ${what} in "${root}": ${messageOf(error)}`, {
			hint: "Set XDG_CACHE_HOME to a folder that you can write to",
			cause: error,
		});
	}
	await buildPrograms(programs, target, log);
	return target;
}

export type FoundPrograms<Name extends string> =
	| { readonly kind: "found"; readonly path: (program: Name) => string }
	| { readonly kind: "missing"; readonly reason: string };

/** Like findOrBuildPrograms(), for a suite that is skipped without the programs. */
export async function findPrograms<Name extends string>(programs: GoPrograms<Name>): Promise<FoundPrograms<Name>> {
	try {
		const folder = await findOrBuildPrograms(programs, { log: (line) => console.log(line) });
		return { kind: "found", path: (program) => join(folder, program) };
	} catch (error) {
		if (error instanceof ProgramsUnavailableError) return { kind: "missing", reason: error.message };
		throw error;
	}
}

function entriesOf(folder: string): readonly string[] {
	return existsSync(folder) ? readdirSync(folder) : [];
}

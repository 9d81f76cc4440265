// Starts the plugin from its parts. The single executable reads the parts from inside itself. The build reads them from files
// and runs them, to save the code that V8 compiles for each kind of start. Both start the parts in the same way, so that the saved code fits.
import { Script } from "node:vm";

export const partNames = ["plugin", "screens", "client-node", "certificates"] as const;
export type PartName = (typeof partNames)[number];

/**
 * Returns the name of the file with a part's compiled code for this call. Completion and `version --client` need little code and have their
 * own files, because reading all of the code takes 10 ms. Each further file adds most of a megabyte to the archive.
 */
export function codeFileOf(name: PartName, words: readonly string[]): string {
	const [command = ""] = words;
	const isShort = command === "__complete" || (command === "version" && words.includes("--client"));
	return isShort ? `${name}-${command.replaceAll("_", "")}.code` : `${name}.code`;
}

export interface PartSource {
	readonly source: string;
	/** The code that V8 compiled earlier. Without it, V8 compiles while the part runs. */
	readonly code?: Buffer;
}

export interface ProgramFrom {
	readonly read: (name: PartName) => PartSource;
	readonly compiled: (name: PartName, script: Script) => void;
}

function requireBuiltin(id: string): unknown {
	const module: unknown = process.getBuiltinModule(id);
	if (module === undefined) throw new Error(`"${id}" is not in this program`);
	return module;
}

/** Starts the plugin with the words in process.argv. Other parts are loaded when they are needed. */
export async function startProgram({ read, compiled }: ProgramFrom): Promise<void> {
	const load = (name: PartName): unknown => {
		const { source, code } = read(name);
		const script = new Script(source, { filename: `${name}.js`, ...(code !== undefined && { cachedData: code }) });
		compiled(name, script);
		return script.runInThisContext();
	};
	const loadPart = (name: PartName): unknown => {
		const module = { exports: {} };
		(load(name) as (builtin: unknown, module: unknown, exports: unknown) => void)(
			requireBuiltin,
			module,
			module.exports,
		);
		return module.exports;
	};
	await (load("plugin") as (builtin: unknown, loadPart: unknown) => Promise<void>)(requireBuiltin, loadPart);
}

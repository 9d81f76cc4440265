// How the plugin starts out of its parts. The single executable does it with what is inside of it, and the build with files, to
// have V8 compile what each start needs: both in the very same way, or V8 would not take that code.
import { Script } from "node:vm";

export const partNames = ["plugin", "screens", "client-node", "certificates"] as const;
export type PartName = (typeof partNames)[number];

/**
 * Which code goes with a part, for the words of a call. All of it takes 10 ms to read; calls that need little of it, and that somebody waits
 * for with a finger on the key, have their own. Each more is most of a megabyte in the archive.
 */
export function codeFileOf(name: PartName, words: readonly string[]): string {
	const [command = ""] = words;
	const isShort = command === "__complete" || (command === "version" && words.includes("--client"));
	return isShort ? `${name}-${command.replaceAll("_", "")}.code` : `${name}.code`;
}

export interface PartSource {
	readonly source: string;
	/** What V8 compiled of it before; left out, it compiles as it goes. */
	readonly code?: Buffer;
}

export interface ProgramFrom {
	readonly read: (name: PartName) => PartSource;
	readonly compiled: (name: PartName, script: Script) => void;
}

/** Of Node itself alone: nothing is ever loaded from the disk. */
function requireBuiltin(id: string): unknown {
	const module: unknown = process.getBuiltinModule(id);
	if (module === undefined) throw new Error(`"${id}" is not in this program`);
	return module;
}

/** The plugin, with its words in process.argv; the other parts when they are asked for. */
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

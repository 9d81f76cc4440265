// Copies the shared libraries that a program needs. Each ELF file names the libraries that it needs, so there is no list to maintain.
import { cpSync, mkdirSync, readdirSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { mustRun } from "../must-run.ts";

export interface LibraryOptions {
	readonly program: string;
	readonly from: string;
	/** The root of the file system that gets the libraries, in folders that the loader searches. */
	readonly to: string;
	/** For example "x86_64-linux-gnu". */
	readonly triplet: string;
}

interface ElfFile {
	readonly loader: string | undefined;
	readonly needed: readonly string[];
}

/** Copies the libraries and returns their names. Throws if one cannot be found. */
export async function copySharedLibraries({ program, from, to, triplet }: LibraryOptions): Promise<readonly string[]> {
	const available = librariesIn(from);
	const { loader, needed } = await readElf(program);
	if (loader === undefined) throw new Error(`${program} names no loader`);
	const copied = new Set<string>();
	const copy = async (name: string, target: string): Promise<void> => {
		if (copied.has(name)) return;
		copied.add(name);
		const source = available.get(name);
		if (source === undefined) throw new Error(`${program} needs ${name}, which no package brings`);
		mkdirSync(join(to, dirname(target)), { recursive: true });
		cpSync(source, join(to, target));
		for (const other of (await readElf(source)).needed) await copy(other, join("lib", triplet, other));
	};
	// The kernel looks for the loader at this path.
	await copy(basename(loader), loader);
	for (const name of needed) await copy(name, join("lib", triplet, name));
	return [...copied].toSorted();
}

/** Returns each library's real file by the library's name, which can be a link. */
function librariesIn(root: string): ReadonlyMap<string, string> {
	const found = new Map<string, string>();
	for (const file of readdirSync(root, { recursive: true, encoding: "utf8" })) {
		const isLibrary = /\.so(\.\d+)*$/.test(file) && !file.includes("/gconv/");
		if (isLibrary) found.set(basename(file), join(root, file));
	}
	return new Map([...found].map(([name, file]) => [name, realpathSync(file)]));
}

async function readElf(file: string): Promise<ElfFile> {
	const text = await mustRun(`read ${file}`, ["readelf", "--wide", "--program-headers", "--dynamic", file]);
	return {
		loader: /\[Requesting program interpreter: ([^\]]+)\]/.exec(text)?.[1],
		needed: [...text.matchAll(/\(NEEDED\)\s+Shared library: \[([^\]]+)\]/g)].map(([, name = ""]) => name),
	};
}

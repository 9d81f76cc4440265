// What is loaded with a module before anything of it runs: the modules and packages that it imports, and those import in turn.
import { posix } from "node:path";
import { findImports } from "./imports.ts";

/** The names of packages, as they are imported; builtins of Node have their "node:". Throws where the module is none of the sources. */
export function loadedPackages(entry: string, sources: ReadonlyMap<string, string>): ReadonlySet<string> {
	const packages = new Set<string>();
	const modules = new Set<string>();
	const load = (path: string): void => {
		if (modules.has(path)) return;
		modules.add(path);
		const text = sources.get(path);
		if (text === undefined) throw new Error(`there is no ${path}`);
		for (const { specifier, typeOnly, lazy } of findImports(path, text)) {
			if (specifier === undefined || typeOnly || lazy) continue;
			if (!specifier.startsWith(".")) packages.add(specifier);
			else if (/\.tsx?$/.test(specifier)) load(posix.join(posix.dirname(path), specifier));
		}
	};
	load(entry);
	return packages;
}

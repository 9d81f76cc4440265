// Finds the packages that are loaded before a module runs, through its imports and theirs.
import { posix } from "node:path";
import { findImports } from "./imports.ts";

/** Returns the names of packages as imported. Node's builtins keep their "node:". Throws if a module is missing from `sources`. */
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

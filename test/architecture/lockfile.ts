// What package-lock.json must say, so that nobody can put other bytes in the place of a dependency.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { repositoryRoot } from "../../scripts/repository-root.ts";

export interface LockEntry {
	readonly version?: string;
	readonly integrity?: string;
	readonly resolved?: string;
	readonly dev?: boolean;
	readonly optional?: boolean;
	readonly os?: readonly string[];
	readonly link?: boolean;
	readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** The places in node_modules where something is, on this machine. */
export function readInstalledPackages(): ReadonlySet<string> {
	const file = join(repositoryRoot, "node_modules", ".package-lock.json");
	if (!existsSync(file)) return new Set();
	return new Set(Object.keys((JSON.parse(readFileSync(file, "utf8")) as { packages: object }).packages));
}

/**
 * One line for each entry that is not proven. Without integrity are only builds of our tools for other platforms than this one, which the
 * registry of whoever wrote the lockfile did not have: on their own platform they fail this check until `npm run lockfile` has found it.
 */
export function findUnprovenPackages(
	packages: Readonly<Record<string, LockEntry>>,
	installed: ReadonlySet<string>,
): readonly string[] {
	const entries = Object.entries(packages).filter(([path]) => path !== "");
	const places = new Set(entries.flatMap(([, { resolved }]) => (resolved === undefined ? [] : [hostOf(resolved)])));
	return entries.flatMap(([path, entry]) => {
		if (entry.link === true) return [`${path} is a link`];
		if (entry.resolved !== undefined && !entry.resolved.startsWith("https:")) return [`${path} is not from a registry`];
		if (entry.resolved !== undefined && places.size > 1) return [`${path} is from ${hostOf(entry.resolved)}`];
		if (entry.integrity !== undefined) {
			return /^sha512-[A-Za-z0-9+/]{86}==$/.test(entry.integrity)
				? []
				: [`${path} has the integrity ${entry.integrity}`];
		}
		const isForeignBuild = entry.dev === true && entry.optional === true && entry.os !== undefined;
		return isForeignBuild && !installed.has(path) ? [] : [`${path} has no integrity`];
	});
}

function hostOf(url: string): string {
	return URL.canParse(url) ? new URL(url).host : url;
}

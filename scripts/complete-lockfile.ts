// `npm run lockfile`: run it after you add or upgrade a dependency. If the registry does not list a tool's builds for other platforms, npm
// leaves them out of package-lock.json, and `npm ci` then refuses the file. This script adds these builds, and each missing integrity that
// the registry has. test/architecture/lockfile.ts refuses an entry without integrity. If one remains, choose a version of the tool that the
// registry has for every platform.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { repositoryRoot } from "./repository-root.ts";
import { runCommand } from "./run-command.ts";

interface LockEntry {
	readonly version?: string;
	readonly integrity?: string;
	readonly dev?: boolean;
	readonly optionalDependencies?: Readonly<Record<string, string>>;
	readonly [field: string]: unknown;
}

interface Lockfile {
	readonly packages: Readonly<Record<string, LockEntry>>;
	readonly [field: string]: unknown;
}

const systems = ["aix", "android", "darwin", "freebsd", "linux", "netbsd", "openbsd", "openharmony", "sunos", "win32"];
const processors: Readonly<Record<string, string>> = { armv7: "arm" };
const knownProcessors = ["arm", "arm64", "ia32", "loong64", "mips64el", "ppc64", "riscv64", "s390x", "x64"];

/** Reads the platform from a package name, for example Linux, arm64 and musl from "@scope/binding-linux-arm64-musl". */
function platformOf(name: string): { os: string[]; cpu: string[]; libc?: string[] } {
	const words = name.slice(name.indexOf("/") + 1).split("-");
	const os = words.find((word) => systems.includes(word));
	const cpu = words.map((word) => processors[word] ?? word).find((word) => knownProcessors.includes(word));
	if (os === undefined || cpu === undefined) throw new Error(`Cannot tell the platform of ${name} by its name`);
	const libc = words.some((word) => word.startsWith("musl"))
		? "musl"
		: words.some((word) => word.startsWith("gnu"))
			? "glibc"
			: "";
	return { os: [os], cpu: [cpu], ...(os === "linux" && libc !== "" && { libc: [libc] }) };
}

function findMissing(packages: Lockfile["packages"]): [string, LockEntry][] {
	return Object.entries(packages).flatMap(([path, entry]) =>
		Object.entries(entry.optionalDependencies ?? {}).flatMap(([name, version]): [string, LockEntry][] => {
			if (`node_modules/${name}` in packages || `${path}/node_modules/${name}` in packages) return [];
			const { os, cpu, libc } = platformOf(name);
			const missing = { version, cpu, ...(entry.dev && { dev: true }), ...(libc && { libc }), optional: true, os };
			return [[`node_modules/${name}`, missing]];
		}),
	);
}

/** Returns the registry's integrity for each entry that has none, by the entry's path. */
async function findIntegrity(packages: Lockfile["packages"]): Promise<ReadonlyMap<string, string>> {
	const found = new Map<string, string>();
	for (const [path, { version, integrity }] of Object.entries(packages)) {
		if (path === "" || integrity !== undefined) continue;
		const name = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
		const { code, output } = await runCommand(["npm", "view", `${name}@${version}`, "dist.integrity"]);
		const [said] = /^sha512-[A-Za-z0-9+/]{86}==$/m.exec(output) ?? [];
		if (code === 0 && said !== undefined) found.set(path, said);
		else console.log(`${name}@${version}: the registry has no integrity`);
	}
	return found;
}

const file = join(repositoryRoot, "package-lock.json");
const lockfile = JSON.parse(readFileSync(file, "utf8")) as Lockfile;
const missing = findMissing(lockfile.packages);
const listed = Object.fromEntries(
	// In npm's own order, so that npm does not reorder the entries at its next run.
	[...Object.entries(lockfile.packages), ...missing].toSorted(([a], [b]) => a.localeCompare(b, "en")),
);
const proven = await findIntegrity(listed);
const packages = Object.fromEntries(
	Object.entries(listed).map(([path, entry]) => {
		const integrity = proven.get(path);
		const { version, ...rest } = entry;
		return [path, integrity === undefined ? entry : { version, integrity, ...rest }];
	}),
);
// npm also writes the file with tabs, as in package.json.
if (missing.length > 0 || proven.size > 0)
	writeFileSync(file, `${JSON.stringify({ ...lockfile, packages }, undefined, "\t")}\n`);
console.log(`package-lock.json: ${missing.length} builds added, ${proven.size} with their integrity now`);

// `npm run lockfile`, for use after a dependency was added or raised. npm leaves builds of a tool for other platforms out of
// package-lock.json if its registry could not show them. Then `npm ci` refuses the file on every platform. The names, versions and
// platforms of these builds are known without the registry, so this adds them. It also adds their integrity, if the registry has them
// now. A build without integrity is refused (test/architecture/lockfile.ts): take a version that the registry has for every platform.
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

/** Returns the platform that a name has, for example Linux, arm64 and musl for "@scope/binding-linux-arm64-musl". */
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

/** Returns the integrity that the registry reports now, by the path of each entry without one. */
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
	// In npm's own order, so that npm does not reorder them the next time.
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
// With tabs, as in package.json. npm writes the file in this way, too.
if (missing.length > 0 || proven.size > 0)
	writeFileSync(file, `${JSON.stringify({ ...lockfile, packages }, undefined, "\t")}\n`);
console.log(`package-lock.json: ${missing.length} builds added, ${proven.size} with their integrity now`);

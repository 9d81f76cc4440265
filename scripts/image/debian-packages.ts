// Fetches the Debian packages that an image needs, with this machine's apt. apt checks the signature of each index and the hash of each
// package. No versions are pinned, because archives drop old versions, which lack later fixes.
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mustRun } from "../must-run.ts";
import { runCommand } from "../run-command.ts";

export interface DebianPackage {
	readonly name: string;
	readonly version: string;
	readonly architecture: string;
	/** The package's entry as in dpkg's list of installed packages. */
	readonly control: string;
}

export interface UnpackedPackages {
	readonly root: string;
	readonly packages: readonly DebianPackage[];
}

/** The C library, the libraries for C++, the certificate authorities that browsers trust, and the name of the system. */
const names = ["base-files", "ca-certificates", "libc6", "libgcc-s1", "libstdc++6"];

/** Returns why this machine cannot fetch Debian's packages. Undefined if it can. */
export async function whyNoDebian(): Promise<string | undefined> {
	for (const tool of ["apt-get", "dpkg-deb", "readelf", "tar"]) {
		if ((await runCommand([tool, "--version"])).code === 0) continue;
		return `images are made on Debian and its like, with binutils: there is no ${tool}`;
	}
	const folder = mkdtempSync(join(tmpdir(), "xpdb-apt-"));
	try {
		const noLists = ["Packages", "Translations"].map(
			(target) => `--option=Acquire::IndexTargets::deb::${target}::DefaultEnabled=false`,
		);
		const options = [...aptOptions(folder), ...noLists, "--option=APT::Update::Error-Mode=any"];
		const { code, output } = await runCommand(["apt-get", ...options, "--quiet", "update"]);
		return code === 0 ? undefined : `Debian's packages cannot be had: ${output.trim()}`;
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
}

/** Returns options with which apt writes only into this folder. */
function aptOptions(folder: string, architecture?: string): readonly string[] {
	const state = join(folder, "state");
	for (const each of [join(state, "lists", "partial"), join(folder, "cache")]) mkdirSync(each, { recursive: true });
	writeFileSync(join(state, "status"), "");
	const settings = {
		...(architecture !== undefined && { "APT::Architecture": architecture, "APT::Architectures::": architecture }),
		"APT::Sandbox::User": "",
		"Acquire::Languages": "none",
		"Acquire::IndexTargets::deb::DEP-11::DefaultEnabled": "false",
		"Acquire::Retries": "3",
		"Dir::State": state,
		"Dir::State::status": join(state, "status"),
		"Dir::Cache": join(folder, "cache"),
	};
	return Object.entries(settings).map(([name, value]) => `--option=${name}=${value}`);
}

/** Fetches and unpacks the packages into the given folder. Nothing else on the machine changes. */
export async function fetchDebianPackages(architecture: string, folder: string): Promise<UnpackedPackages> {
	const root = join(folder, "root");
	mkdirSync(root, { recursive: true });
	const options = aptOptions(folder, architecture);
	await mustRun(`read which packages there are for ${architecture}`, ["apt-get", ...options, "--quiet", "update"]);
	const fetchPackages = async (wanted: readonly string[]): Promise<readonly DebianPackage[]> => {
		const archives = mkdtempSync(join(folder, "archives-"));
		const download = ["apt-get", ...options, "--quiet", "download", ...wanted] as const;
		await mustRun(`fetch ${wanted.join(", ")} for ${architecture}`, ["env", `--chdir=${archives}`, ...download]);
		const found: DebianPackage[] = [];
		for (const file of readdirSync(archives).toSorted()) found.push(await unpack(join(archives, file), root));
		return found;
	};
	const packages = await fetchPackages(names);
	// The copyright of everything built from GCC is in a separate package, whose name contains the version.
	const compilers = packages.flatMap(({ control }) => /^Depends: .*\b(gcc-[\d.]+-base)\b/m.exec(control)?.[1] ?? []);
	await fetchPackages([...new Set(compilers)]);
	const missing = names.filter((name) => !packages.some((each) => each.name === name));
	if (missing.length > 0) throw new Error(`There is no ${missing.join(", ")} for ${architecture}`);
	return { root, packages };
}

async function unpack(archive: string, root: string): Promise<DebianPackage> {
	await mustRun(`unpack ${archive}`, ["dpkg-deb", "--extract", archive, root]);
	const control = await mustRun(`read ${archive}`, ["dpkg-deb", "--field", archive]);
	const field = (name: string): string => {
		const value = new RegExp(`^${name}: (.+)$`, "m").exec(control)?.[1];
		if (value === undefined) throw new Error(`${archive} does not say its ${name}`);
		return value;
	};
	return { name: field("Package"), version: field("Version"), architecture: field("Architecture"), control };
}

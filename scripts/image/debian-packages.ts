// What an image needs of a system, from Debian (or its like) as this machine's apt is set up for it: apt checks the signature of each index and
// the hash of each package. No versions are pinned here: those that are not the newest are taken away, and lack what was mended since.
import { mkdirSync, mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { mustRun } from "../must-run.ts";

export interface DebianPackage {
	readonly name: string;
	readonly version: string;
	readonly architecture: string;
	/** As dpkg has it of what is installed. */
	readonly control: string;
}

export interface UnpackedPackages {
	/** All of their files. */
	readonly root: string;
	readonly packages: readonly DebianPackage[];
}

/** The C library and what C++ needs, the authorities that browsers trust, and the name of the system that they are of. */
const names = ["base-files", "ca-certificates", "libc6", "libgcc-s1", "libstdc++6"];

/** Into the folder that is given; nothing of the machine is changed. */
export async function fetchDebianPackages(architecture: string, folder: string): Promise<UnpackedPackages> {
	const state = join(folder, "state");
	const root = join(folder, "root");
	for (const each of [join(state, "lists", "partial"), join(folder, "cache"), root]) {
		mkdirSync(each, { recursive: true });
	}
	writeFileSync(join(state, "status"), "");
	const settings = {
		"APT::Architecture": architecture,
		"APT::Architectures::": architecture,
		"APT::Sandbox::User": "",
		"Acquire::Languages": "none",
		"Acquire::IndexTargets::deb::DEP-11::DefaultEnabled": "false",
		"Acquire::Retries": "3",
		"Dir::State": state,
		"Dir::State::status": join(state, "status"),
		"Dir::Cache": join(folder, "cache"),
	};
	const options = Object.entries(settings).map(([name, value]) => `--option=${name}=${value}`);
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
	// The copyright of what is made from GCC stands in a package of its own, which has the version in its name.
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

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseDocument } from "yaml";
import { repositoryRoot } from "../repository-root.ts";

export interface PackagedArchive {
	readonly os: string;
	readonly arch: string;
	readonly program: string;
	readonly uri: string;
	readonly sha256: string;
}

/** Returns krew/xpdb.yaml with the values that are known only once the archives exist. */
export function krewManifest(version: string, archives: readonly PackagedArchive[]): string {
	const manifest = parseDocument(readFileSync(join(repositoryRoot, "krew", "xpdb.yaml"), "utf8"));
	manifest.setIn(["spec", "version"], `v${version}`);
	manifest.setIn(
		["spec", "platforms"],
		archives.map(({ os, arch, program, uri, sha256 }) => ({
			selector: { matchLabels: { os, arch } },
			uri,
			sha256,
			bin: program,
		})),
	);
	return manifest.toString({ lineWidth: 0 });
}

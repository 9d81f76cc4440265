// Writes an archive that krew accepts: only plain files with clean names at its root. The same files make the same bytes.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { promisify } from "node:util";
import { gzip } from "node:zlib";

/** Our own limit, because krew reads a whole archive into memory. */
const maxBytes = 45_000_000;

export interface ArchiveOptions {
	readonly folder: string;
	readonly files: readonly string[];
	/** Seconds since 1970, for each file. */
	readonly modified: number;
	readonly output: string;
	/** gzip's level. Level 9 takes some seconds. Levels below 6 add 1 MB, which exceeds the limit. */
	readonly level?: number;
}

/** Returns the SHA-256 of the archive. */
export async function writeArchive({ folder, files, modified, output, level = 9 }: ArchiveOptions): Promise<string> {
	const tar = tarOf({ folder, files, modified });
	const archive = await promisify(gzip)(tar, { level });
	if (archive.length > maxBytes) throw new Error(`${output} has ${archive.length} bytes, more than ${maxBytes}`);
	writeFileSync(output, archive);
	return createHash("sha256").update(archive).digest("hex");
}

/** Packs files, and folders with all their contents. They belong to root, and every user can read them. */
export function tarOf({ folder, files, modified }: Omit<ArchiveOptions, "output" | "level">): Buffer {
	const form = ["--format=ustar", "--sort=name", "--owner=0", "--group=0", "--numeric-owner", `--mtime=@${modified}`];
	const modes = "--mode=u=rwX,go=rX";
	return execFileSync("tar", [...form, modes, "-C", folder, "-cf", "-", ...files], { maxBuffer: 2 ** 30 });
}

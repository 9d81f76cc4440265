// An archive as krew takes it: plain files with clean names at its root, nothing else. The same files make the same bytes.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { promisify } from "node:util";
import { gzip } from "node:zlib";

/** The limit that we set ourselves: krew reads an archive into memory as a whole. */
const maxBytes = 45_000_000;

export interface ArchiveOptions {
	readonly folder: string;
	readonly files: readonly string[];
	/** Seconds since 1970, for each file. */
	readonly modified: number;
	readonly output: string;
	/** Of compression; 9, which takes some seconds of a processor, unless said otherwise. Below 6 it is 1 MB more, which the limit has no room for. */
	readonly level?: number;
}

/** Its SHA-256. */
export async function writeArchive({ folder, files, modified, output, level = 9 }: ArchiveOptions): Promise<string> {
	const tar = tarOf({ folder, files, modified });
	const archive = await promisify(gzip)(tar, { level });
	if (archive.length > maxBytes) throw new Error(`${output} has ${archive.length} bytes, more than ${maxBytes}`);
	writeFileSync(output, archive);
	return createHash("sha256").update(archive).digest("hex");
}

/** The files, and all in them where they are folders, of the modes that all may read, and of nobody's on this machine. */
export function tarOf({ folder, files, modified }: Omit<ArchiveOptions, "output" | "level">): Buffer {
	const form = ["--format=ustar", "--sort=name", "--owner=0", "--group=0", "--numeric-owner", `--mtime=@${modified}`];
	const modes = "--mode=u=rwX,go=rX";
	return execFileSync("tar", [...form, modes, "-C", folder, "-cf", "-", ...files], { maxBuffer: 2 ** 30 });
}

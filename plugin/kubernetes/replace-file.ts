import { renameSync, rmSync, writeFileSync } from "node:fs";

/** Replaces the whole file or leaves the old one, even if several processes write at once. Ignores a failure. */
export function replaceFile(file: string, content: string | Buffer): void {
	const part = `${file}.${process.pid}.part`;
	try {
		writeFileSync(part, content, { mode: 0o600, flag: "wx" });
		renameSync(part, file);
	} catch {
		removeFile(part);
	}
}

function removeFile(file: string): void {
	try {
		rmSync(file, { force: true });
	} catch {
		// Its parent is not a folder, or belongs to another user.
	}
}

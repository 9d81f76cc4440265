import { renameSync, rmSync, writeFileSync } from "node:fs";

/** Whole or not at all, however many calls end at the same time. Where it cannot be written nothing happens. */
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
		// Its folder is none, or belongs to somebody else.
	}
}

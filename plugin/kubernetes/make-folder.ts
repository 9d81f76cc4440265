import { existsSync, mkdirSync } from "node:fs";
import { dirname, resolve } from "node:path";

/** Makes it where it is missing, one folder at a time: Node's own way to make all of them never ends where no folder can be made, as in /proc. */
export function makeFolder(folder: string, mode?: number): void {
	const missing: string[] = [];
	// The root is its own parent, and a drive of Windows may be missing.
	for (let at = resolve(folder); !existsSync(at); at = dirname(at)) {
		missing.unshift(at);
		if (at === dirname(at)) break;
	}
	for (const each of missing) makeOne(each, mode);
}

function makeOne(folder: string, mode?: number): void {
	try {
		mkdirSync(folder, mode);
	} catch (error) {
		// Another process may have made it since it was looked for.
		if (!existsSync(folder)) throw error;
	}
}

import { existsSync, mkdirSync } from "node:fs";
import { dirname, resolve } from "node:path";

/** Creates missing folders one at a time: Node's recursive mkdir never returns where none can be created, as in /proc. */
export function makeFolder(folder: string, mode?: number): void {
	const missing: string[] = [];
	// The root is its own parent. On Windows, the whole drive may be missing.
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
		// Another process may have created it.
		if (!existsSync(folder)) throw error;
	}
}

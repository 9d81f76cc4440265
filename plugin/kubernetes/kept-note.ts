// Keeps short notes about an API server between calls, to save requests. No decision may depend on a note that the server has not
// confirmed.
import { hash } from "node:crypto";
import { join } from "node:path";
import { isCacheFolder } from "./cache-folder.ts";
import { readOwnFile } from "./own-file.ts";
import { replaceFile } from "./replace-file.ts";

export interface KeptNote {
	read(): unknown;
	write(value: unknown): void;
}

/**
 * `folder`: if undefined, nothing is kept. `about`: the note's subject, starting with the server. `mode`: for the folder, if it is created.
 */
export function createKeptNote(folder: string | undefined, about: readonly string[], mode?: number): KeptNote {
	if (folder === undefined) return { read: () => undefined, write: () => undefined };
	// A server's URL is not a valid file name.
	const file = (): string => join(folder, `${hash("sha256", JSON.stringify(about)).slice(0, 32)}.json`);
	return {
		read() {
			try {
				const value: unknown = JSON.parse(readOwnFile(file()).toString());
				return value;
			} catch {
				return undefined;
			}
		},
		write(value) {
			if (isCacheFolder(folder, mode)) replaceFile(file(), JSON.stringify(value));
		},
	};
}

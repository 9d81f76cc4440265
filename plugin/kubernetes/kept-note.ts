// What a call leaves for the next one about an API server: a few words that save it a question. It is believed by nobody before the server
// has said the same, and holds nothing that the server keeps from anybody who may ask it.
import { hash } from "node:crypto";
import { join } from "node:path";
import { isCacheFolder } from "./cache-folder.ts";
import { readOwnFile } from "./own-file.ts";
import { replaceFile } from "./replace-file.ts";

export interface KeptNote {
	/** Undefined where there is none, or none that can be read. */
	read(): unknown;
	/** Anything that JSON can say. Nothing happens where it cannot be kept. */
	write(value: unknown): void;
}

/** `folder`: undefined keeps nothing. `about`: what it is about, server first; of each there is one. `mode`: of a folder that is missing. */
export function createKeptNote(folder: string | undefined, about: readonly string[], mode?: number): KeptNote {
	if (folder === undefined) return { read: () => undefined, write: () => undefined };
	// Names of servers are no names of files.
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

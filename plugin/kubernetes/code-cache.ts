// Keeps the code that V8 compiled in earlier calls.
import { enableCompileCache } from "node:module";
import { findPrivateFolder } from "./private-folder.ts";

/** Makes Node cache compiled modules. Returns the folder, or undefined if there can be none. */
export function enableCodeCache(env: NodeJS.ProcessEnv): string | undefined {
	const folder = findCodeFolder(env);
	if (folder !== undefined) enableCompileCache(folder);
	return folder;
}

/** Only code may be in this folder, because Node executes its contents without checking who owns a file. */
export function findCodeFolder(env: NodeJS.ProcessEnv): string | undefined {
	return findPrivateFolder(env, "code");
}

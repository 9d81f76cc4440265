// Keeps the code that V8 compiled in earlier calls. Without it, each call compiles everything again.
import { enableCompileCache } from "node:module";
import { findPrivateFolder } from "./private-folder.ts";

/**
 * Makes Node keep compiled modules in a folder from now on. Returns the folder, which is created if missing. Undefined if there can be
 * none.
 */
export function enableCodeCache(env: NodeJS.ProcessEnv): string | undefined {
	const folder = findCodeFolder(env);
	if (folder !== undefined) enableCompileCache(folder);
	return folder;
}

/** Returns a folder for code only, because its contents are executed. Node reads it too, and does not check who owns a file. */
export function findCodeFolder(env: NodeJS.ProcessEnv): string | undefined {
	return findPrivateFolder(env, "code");
}

// The code that V8 compiled for earlier calls: without it each call compiles all that it uses anew.
import { enableCompileCache } from "node:module";
import { findPrivateFolder } from "./private-folder.ts";

/** The folder, made where it is missing; undefined where that cannot be. Node keeps there what it compiles of modules from now on. */
export function enableCodeCache(env: NodeJS.ProcessEnv): string | undefined {
	const folder = findCodeFolder(env);
	if (folder !== undefined) enableCompileCache(folder);
	return folder;
}

/** A folder for code alone: what is in there is executed. Node reads it too, and does not check who owns a file. */
export function findCodeFolder(env: NodeJS.ProcessEnv): string | undefined {
	return findPrivateFolder(env, "code");
}

// The code that V8 compiled for earlier calls: without it each call compiles all that it uses anew.
import { enableCompileCache } from "node:module";
import { findCacheFolder, isCacheFolder } from "./cache-folder.ts";

/** The folder, made where it is missing; undefined where that cannot be. Node keeps there what it compiles of modules from now on. */
export function enableCodeCache(env: NodeJS.ProcessEnv): string | undefined {
	const folder = findCacheFolder(env);
	if (folder === undefined || !isCacheFolder(folder)) return undefined;
	enableCompileCache(folder);
	return folder;
}

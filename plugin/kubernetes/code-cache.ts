// The code that V8 compiled for earlier calls: without it each call compiles all that it uses anew.
import { enableCompileCache } from "node:module";
import { join } from "node:path";
import { findCacheFolder, isCacheFolder } from "./cache-folder.ts";
import { isOwnFolder } from "./own-file.ts";

/** Its subfolder for code alone: what is in there is executed. Node reads it too, and does not check who owns a file. */
const codeFolder = "code";

/** The folder, made where it is missing; undefined where that cannot be. Node keeps there what it compiles of modules from now on. */
export function enableCodeCache(env: NodeJS.ProcessEnv): string | undefined {
	const folder = findCodeFolder(env);
	if (folder !== undefined) enableCompileCache(folder);
	return folder;
}

/** A folder that no other user can write to. */
export function findCodeFolder(env: NodeJS.ProcessEnv): string | undefined {
	const folder = findCacheFolder(env);
	if (folder === undefined || !isCacheFolder(folder)) return undefined;
	const code = join(folder, codeFolder);
	return isCacheFolder(code, 0o700) && isOwnFolder(code) ? code : undefined;
}

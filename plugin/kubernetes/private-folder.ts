import { join } from "node:path";
import { findCacheFolder, isCacheFolder } from "./cache-folder.ts";
import { isOwnFolder } from "./own-file.ts";

export const privateMode = 0o700;

/** Returns a folder in the plugin's cache that only this user can access, created if missing. Undefined if that is impossible. */
export function findPrivateFolder(env: NodeJS.ProcessEnv, name: string): string | undefined {
	const cache = findCacheFolder(env);
	if (cache === undefined || !isCacheFolder(cache)) return undefined;
	const folder = join(cache, name);
	return isCacheFolder(folder, privateMode) && isOwnFolder(folder) ? folder : undefined;
}

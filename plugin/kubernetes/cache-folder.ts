// Finds the plugin's cache folder, inside kubectl's. It holds code that we run, so other users must not be able to write there.
import { isAbsolute, join } from "node:path";
import { makeFolder } from "./make-folder.ts";

export function findCacheFolder(env: NodeJS.ProcessEnv): string | undefined {
	const home = env["HOME"] ?? "";
	const folder = env["KUBECACHEDIR"] || (home === "" ? "" : join(home, ".kube", "cache"));
	return isAbsolute(folder) ? join(folder, "kubectl-xpdb") : undefined;
}

/** Creates the folder if it is missing. */
export function isCacheFolder(folder: string, mode = 0o750): boolean {
	try {
		makeFolder(folder, mode);
		return true;
	} catch {
		return false;
	}
}

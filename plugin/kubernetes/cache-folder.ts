// Finds the folder for what is kept for later calls, inside kubectl's own cache folder. By default it is in ~/.kube, and a user who may
// write there can already have any program run as us, through the kubeconfig. A shared folder for temporary files would give that power to
// other users.
import { isAbsolute, join } from "node:path";
import { makeFolder } from "./make-folder.ts";

/** Returns our folder inside kubectl's cache folder. Undefined if the environment names no absolute path for it. */
export function findCacheFolder(env: NodeJS.ProcessEnv): string | undefined {
	const home = env["HOME"] ?? "";
	const folder = env["KUBECACHEDIR"] || (home === "" ? "" : join(home, ".kube", "cache"));
	return isAbsolute(folder) ? join(folder, "kubectl-xpdb") : undefined;
}

/** Creates the folder if it is missing, as kubectl does. False if that fails. */
export function isCacheFolder(folder: string, mode = 0o750): boolean {
	try {
		makeFolder(folder, mode);
		return true;
	} catch {
		return false;
	}
}

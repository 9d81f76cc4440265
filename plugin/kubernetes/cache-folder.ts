// Where something is kept for later calls: beside what kubectl keeps.
// Who may write there can already have any program run as us, by the kubeconfig in the folder above; a shared folder for
// temporary files would let others.
import { isAbsolute, join } from "node:path";
import { makeFolder } from "./make-folder.ts";

/** In kubectl's own folder for caches; undefined where there is no home. */
export function findCacheFolder(env: NodeJS.ProcessEnv): string | undefined {
	const home = env["HOME"] ?? "";
	const folder = env["KUBECACHEDIR"] || (home === "" ? "" : join(home, ".kube", "cache"));
	return isAbsolute(folder) ? join(folder, "kubectl-xpdb") : undefined;
}

/** Made where it is missing, as kubectl makes them; false where that cannot be. */
export function isCacheFolder(folder: string, mode = 0o750): boolean {
	try {
		makeFolder(folder, mode);
		return true;
	} catch {
		return false;
	}
}

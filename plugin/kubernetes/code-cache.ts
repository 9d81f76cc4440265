// The code that V8 compiled for earlier calls, kept beside what kubectl keeps: without it each call compiles all that it uses anew.
// Who may write there can already have any program run as us, by the kubeconfig in the folder above; a shared folder for
// temporary files would let others.
import { enableCompileCache } from "node:module";
import { isAbsolute, join } from "node:path";
import { makeFolder } from "./make-folder.ts";

/** kubectl's own folder for caches; undefined where there is no home. */
export function findCodeCache(env: NodeJS.ProcessEnv): string | undefined {
	const home = env["HOME"] ?? "";
	const folder = env["KUBECACHEDIR"] || (home === "" ? "" : join(home, ".kube", "cache"));
	return isAbsolute(folder) ? join(folder, "kubectl-xpdb") : undefined;
}

/** The folder, made where it is missing; undefined where that cannot be. Node keeps there what it compiles of modules from now on. */
export function enableCodeCache(env: NodeJS.ProcessEnv): string | undefined {
	const folder = findCodeCache(env);
	if (folder === undefined || !isFolder(folder)) return undefined;
	enableCompileCache(folder);
	return folder;
}

/** Made where it is missing. */
function isFolder(folder: string): boolean {
	try {
		// As kubectl makes them.
		makeFolder(folder, 0o750);
		return true;
	} catch {
		return false;
	}
}

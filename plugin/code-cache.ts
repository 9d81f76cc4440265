// The code that V8 compiled for earlier calls, kept beside what kubectl keeps: without it each call compiles all that it uses anew.
// Who may write there can already have any program run as us, by the kubeconfig in the folder above; a shared folder for
// temporary files would let others.
import { enableCompileCache } from "node:module";
import { isAbsolute, join } from "node:path";

/** kubectl's own folder for caches; undefined where there is no home. */
export function findCodeCache(env: NodeJS.ProcessEnv): string | undefined {
	const home = env["HOME"] ?? "";
	const folder = env["KUBECACHEDIR"] || (home === "" ? "" : join(home, ".kube", "cache"));
	return isAbsolute(folder) ? join(folder, "kubectl-xpdb") : undefined;
}

/** Before the modules are loaded that it is for. A folder that cannot be written, or code of another version, is as good as none. */
export function enableCodeCache(env: NodeJS.ProcessEnv): void {
	const folder = findCodeCache(env);
	if (folder !== undefined) enableCompileCache(folder);
}

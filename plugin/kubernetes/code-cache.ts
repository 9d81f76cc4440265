// The code that V8 compiled for earlier calls, kept beside what kubectl keeps: without it each call compiles all that it uses anew.
// Who may write there can already have any program run as us, by the kubeconfig in the folder above; a shared folder for
// temporary files would let others.
import { existsSync, mkdirSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { dirname, isAbsolute, join } from "node:path";

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

/** Makes it where it is missing, one folder at a time: Node's own way to make all of them never ends where no folder can be made, as in /proc. */
function isFolder(folder: string): boolean {
	const missing: string[] = [];
	for (let at = folder; !existsSync(at); at = dirname(at)) missing.unshift(at);
	try {
		// As kubectl makes them.
		for (const each of missing) mkdirSync(each, 0o750);
		return true;
	} catch {
		return false;
	}
}

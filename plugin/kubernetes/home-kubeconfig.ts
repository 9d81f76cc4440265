// Finds the kubeconfig in the home folder as kubectl does (client-go, util/homedir).
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

interface Machine {
	readonly platform: NodeJS.Platform;
	readonly exists: (path: string) => boolean;
}

const ownMachine: Machine = { platform: process.platform, exists: existsSync };

/** The file may not exist. */
export function homeKubeconfig(env: NodeJS.ProcessEnv, { platform, exists }: Machine = ownMachine): string {
	const [first = join(homedir(), ".kube", "config"), ...others] = homes(env, platform).map((home) =>
		join(home, ".kube", "config"),
	);
	return [first, ...others].find(exists) ?? first;
}

function homes(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): readonly string[] {
	const { HOME, HOMEDRIVE = "", HOMEPATH = "", USERPROFILE = "" } = env;
	if (platform !== "win32") return HOME === undefined ? [] : [HOME];
	// Windows has two home folders, and some shells also set HOME.
	return [HOME ?? "", HOMEDRIVE && HOMEPATH && HOMEDRIVE + HOMEPATH, USERPROFILE].filter((home) => home !== "");
}

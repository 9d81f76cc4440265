import { existsSync } from "node:fs";
import { join } from "node:path";
import { SetupError } from "../../demo/machine/setup-error.ts";
import { type BinaryName, controlPlane, oldestControlPlane } from "./go-programs.ts";
import { type Environment, findOrBuildPrograms, type ProgramCacheOptions } from "./program-cache.ts";

/** The path of every program of a cluster. */
export type Binaries = Readonly<Record<BinaryName, string>>;

const assetNames: readonly BinaryName[] = ["etcd", "kube-apiserver", "kubectl"];

/**
 * Finds the programs of a cluster. Builds them if they are missing.
 *
 * @throws ProgramsUnavailableError when there is neither a build nor a way to make one.
 */
export async function findOrBuildBinaries(options: ProgramCacheOptions): Promise<Binaries> {
	const assets = findAssets(options.environment ?? process.env);
	const isComplete = controlPlane.programs.every((name) => assets[name] !== undefined);
	const folder = isComplete ? "" : await findOrBuildPrograms(controlPlane, options);
	const path = (name: BinaryName) => assets[name] ?? join(folder, name);
	return {
		etcd: path("etcd"),
		"kube-apiserver": path("kube-apiserver"),
		"kube-controller-manager": path("kube-controller-manager"),
		"kube-scheduler": path("kube-scheduler"),
		kubectl: path("kubectl"),
		kwok: path("kwok"),
	};
}

/**
 * Finds the programs of a cluster of the oldest Kubernetes, with the newest version of everything else. Builds them if they are missing.
 *
 * @throws ProgramsUnavailableError when there is neither a build nor a way to make one.
 */
export async function findOrBuildOldest(newest: Binaries, options: ProgramCacheOptions): Promise<Binaries> {
	const folder = await findOrBuildPrograms(oldestControlPlane, options);
	const oldest = Object.fromEntries(oldestControlPlane.programs.map((name) => [name, join(folder, name)]));
	return { ...newest, ...oldest };
}

// Finds the programs in the folder that KUBEBUILDER_ASSETS names. If it is set, a folder without etcd, kube-apiserver or kubectl is an
// error, and is not ignored.
function findAssets(environment: Environment): Partial<Record<BinaryName, string>> {
	const folder = environment["KUBEBUILDER_ASSETS"];
	if (folder === undefined || folder === "") {
		return {};
	}
	const missing = assetNames.filter((name) => !existsSync(join(folder, name)));
	if (missing.length > 0) {
		throw new SetupError(`KUBEBUILDER_ASSETS is "${folder}", but there is no ${missing.join(", no ")} in it`, {
			hint: "Unset it, or point it to a folder with etcd, kube-apiserver and kubectl",
		});
	}
	return Object.fromEntries(
		controlPlane.programs.map((name) => [name, join(folder, name)]).filter(([, path]) => existsSync(path ?? "")),
	);
}

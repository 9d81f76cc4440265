import { existsSync } from "node:fs";
import { join } from "node:path";
import { SetupError } from "../../demo/machine/setup-error.ts";
import { type BinaryName, controlPlane, oldestControlPlane } from "./go-programs.ts";
import { type Environment, findOrBuildPrograms, type ProgramCacheOptions } from "./program-cache.ts";

export type Binaries = Readonly<Record<BinaryName, string>>;

const assetNames: readonly BinaryName[] = ["etcd", "kube-apiserver", "kubectl"];

/**
 * Finds the programs of a cluster, or builds them.
 *
 * @throws ProgramsUnavailableError if there is no build and none can be made.
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
 * Like findOrBuildBinaries(), but with the programs of oldestControlPlane instead of the newest.
 *
 * @throws ProgramsUnavailableError if there is no build and none can be made.
 */
export async function findOrBuildOldest(newest: Binaries, options: ProgramCacheOptions): Promise<Binaries> {
	const folder = await findOrBuildPrograms(oldestControlPlane, options);
	const oldest = Object.fromEntries(oldestControlPlane.programs.map((name) => [name, join(folder, name)]));
	return { ...newest, ...oldest };
}

// If KUBEBUILDER_ASSETS is set, a folder without etcd, kube-apiserver or kubectl is an error.
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

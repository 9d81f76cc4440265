import { accessSync, constants, existsSync, mkdirSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { messageOf, SetupError } from "../../demo/machine/setup-error.ts";
import { ControlPlaneUnavailableError } from "./fleet-errors.ts";
import type { BinaryName } from "./go-build.ts";
import { buildBinaries, findGo, sourceKey } from "./go-build.ts";

/** The path of every program that a cluster is made of. */
export type Binaries = Readonly<Record<BinaryName, string>>;

const names: readonly BinaryName[] = [
	"etcd",
	"kube-apiserver",
	"kube-controller-manager",
	"kube-scheduler",
	"kubectl",
	"kwok",
];
const assetNames: readonly BinaryName[] = ["etcd", "kube-apiserver", "kubectl"];

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Finds the programs, building what is missing.
 * @throws ControlPlaneUnavailableError when there is neither a build nor a way to make one.
 */
export async function findOrBuildBinaries(options: {
	readonly log: (line: string) => void;
	readonly environment?: Environment;
}): Promise<Binaries> {
	const environment = options.environment ?? process.env;
	const assets = findAssets(environment);
	const root = join(environment["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "xpdb", "controlplane");
	const source = sourceKey();
	if (names.every((name) => assets[name] !== undefined)) {
		return pathsIn("", assets);
	}
	const go = findGo();
	if (go.kind === "missing") {
		const cached = findCached(root, source);
		if (cached === undefined) {
			throw new ControlPlaneUnavailableError(
				`Real control planes are not available: ${go.reason}, and nothing built before`,
				{
					hint: "Install Go 1.26 or newer, or set KUBEBUILDER_ASSETS to a folder with etcd, kube-apiserver, kubectl, kube-controller-manager, kube-scheduler and kwok",
				},
			);
		}
		return pathsIn(cached, assets);
	}
	const target = join(root, `${source}-${go.version}`);
	if (!isComplete(target)) {
		try {
			mkdirSync(root, { recursive: true });
			accessSync(root, constants.W_OK);
		} catch (error) {
			throw new SetupError(`Cannot keep the built control plane in "${root}": ${messageOf(error)}`, {
				hint: "Set XDG_CACHE_HOME to a folder that you can write to",
				cause: error,
			});
		}
		await buildBinaries(target, options.log);
	}
	return pathsIn(target, assets);
}

// Once KUBEBUILDER_ASSETS is set it is meant: a folder without the three programs is a mistake to report, not to ignore.
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
		names.map((name) => [name, join(folder, name)]).filter(([, path]) => existsSync(path ?? "")),
	);
}

function findCached(root: string, source: string): string | undefined {
	if (!existsSync(root)) {
		return undefined;
	}
	return readdirSync(root)
		.filter((entry) => entry.startsWith(`${source}-`))
		.map((entry) => join(root, entry))
		.find(isComplete);
}

function isComplete(folder: string): boolean {
	return names.every((name) => existsSync(join(folder, name)));
}

function pathsIn(folder: string, assets: Partial<Record<BinaryName, string>>): Binaries {
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

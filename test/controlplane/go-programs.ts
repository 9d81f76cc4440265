// Lists the Go programs that tests build. The versions are pinned in go/*/go.mod.

export interface GoModule {
	readonly folder: string;
	/** The module whose version the programs are stamped with. */
	readonly main: string;
	readonly packages: readonly string[];
	readonly tags?: readonly string[];
	readonly stamps: (version: string) => readonly string[];
	/** The programs' names, by the names that Go derives from import paths. */
	readonly renames?: Readonly<Record<string, string>>;
}

export interface GoPrograms<Name extends string = string> {
	/** The folder's name in the cache. */
	readonly name: string;
	/** What is built, for messages. */
	readonly what: string;
	readonly duration: string;
	readonly modules: readonly GoModule[];
	/** The build is complete if all of these exist. */
	readonly programs: readonly Name[];
	/** An alternative to Go, for messages. */
	readonly otherwise?: string;
}

export type BinaryName = "etcd" | "kube-apiserver" | "kube-controller-manager" | "kube-scheduler" | "kubectl" | "kwok";

export const controlPlane: GoPrograms<BinaryName> = {
	name: "controlplane",
	what: "the Kubernetes control plane, etcd and kwok",
	duration: "about 7 minutes",
	modules: [
		{
			folder: "kubernetes",
			main: "k8s.io/kubernetes",
			packages: ["kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl"].map(
				(name) => `k8s.io/kubernetes/cmd/${name}`,
			),
			stamps: kubernetesStamps,
		},
		{
			folder: "etcd",
			main: "go.etcd.io/etcd/server/v3",
			packages: ["go.etcd.io/etcd/server/v3"],
			stamps: () => [],
			renames: { server: "etcd" },
		},
		{
			folder: "kwok",
			main: "sigs.k8s.io/kwok",
			packages: ["sigs.k8s.io/kwok/cmd/kwok"],
			stamps: (version) => [`sigs.k8s.io/kwok/pkg/consts.Version=${version}`],
		},
	],
	programs: ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl", "kwok"],
	otherwise:
		"or set KUBEBUILDER_ASSETS to a folder with etcd, kube-apiserver, kubectl, kube-controller-manager, kube-scheduler and kwok",
};

export type OldestName = "kube-apiserver" | "kube-controller-manager" | "kube-scheduler";

/** The programs that tests also run in the oldest supported version. All others come from controlPlane. */
export const oldestControlPlane: GoPrograms<OldestName> = {
	name: "oldest",
	what: "the oldest Kubernetes that is supported",
	duration: "about 5 minutes",
	modules: [
		{
			folder: "kubernetes-oldest",
			main: "k8s.io/kubernetes",
			packages: ["kube-apiserver", "kube-controller-manager", "kube-scheduler"].map(
				(name) => `k8s.io/kubernetes/cmd/${name}`,
			),
			// That version still contains the cloud providers, whose clients would add a third to the build time.
			tags: ["providerless"],
			stamps: kubernetesStamps,
		},
	],
	programs: ["kube-apiserver", "kube-controller-manager", "kube-scheduler"],
};

export const krewPrograms: GoPrograms<"krew" | "validate-krew-manifest"> = {
	name: "krew",
	what: "krew and its validator",
	duration: "some seconds",
	modules: [
		{
			folder: "krew",
			main: "sigs.k8s.io/krew",
			packages: ["sigs.k8s.io/krew/cmd/krew", "sigs.k8s.io/krew/cmd/validate-krew-manifest"],
			// Without a version, krew considers itself a development version and does not ask GitHub for a newer one.
			stamps: () => [],
		},
	],
	programs: ["krew", "validate-krew-manifest"],
};

export const helmPrograms: GoPrograms<"helm"> = {
	name: "helm",
	what: "helm",
	duration: "about 2 minutes",
	modules: [
		{
			folder: "helm",
			main: "helm.sh/helm/v3",
			packages: ["helm.sh/helm/v3/cmd/helm"],
			stamps: (version) => [`helm.sh/helm/v3/internal/version.version=${version}`],
		},
	],
	programs: ["helm"],
};

export const fluxPrograms: GoPrograms<"flux-sync"> = {
	name: "flux",
	what: "a sync of Flux",
	duration: "about 2 minutes",
	modules: [
		{
			folder: "flux-sync",
			main: "github.com/fluxcd/pkg/ssa",
			packages: ["."],
			stamps: () => [],
		},
	],
	programs: ["flux-sync"],
};

// Without these stamps, /version gives a wrong answer, and clients that compare versions fail.
function kubernetesStamps(version: string): string[] {
	const [major, minor] = version.replace(/^v/, "").split(".");
	const values = {
		gitVersion: version,
		gitMajor: major ?? "",
		gitMinor: minor ?? "",
		gitTreeState: "clean",
		gitCommit: "0000000000000000000000000000000000000000",
		buildDate: "2026-01-01T00:00:00Z",
	};
	return ["k8s.io/component-base/version", "k8s.io/client-go/pkg/version"].flatMap((target) =>
		Object.entries(values).map(([name, value]) => `${target}.${name}=${value}`),
	);
}

// Fields of our objects that somebody else keeps: whose they are decides what there is to do.

/** Those that put a cluster back to what a repository says, of Flux and of Argo CD: what is changed by force lasts until their next sync. */
const syncing = ["kustomize-controller", "helm-controller", "argocd-controller", "argocd-application-controller"];

/** `conflicts`: `.spec.replicas, kept by helm`, one for each field. */
export function keptHint(conflicts: readonly string[]): string {
	const keepers = syncing.filter((keeper) => conflicts.some((conflict) => conflict.endsWith(`, kept by ${keeper}`)));
	if (keepers.length === 0) return "Take them over with --force-conflicts, or have whoever keeps them let go";
	const takes = keepers.length === 1 ? "takes" : "take";
	return (
		`${keepers.join(" and ")} ${takes} back what --force-conflicts changes: write the objects into the repository instead, ` +
		"by the same command with --dry-run=client --output-dir=FOLDER"
	);
}

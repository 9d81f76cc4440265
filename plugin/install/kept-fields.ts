// Advises on fields of our objects that others manage. The advice depends on the owner, and on whether the field can be changed at all.
import type { ObjectChange } from "./find-changes.ts";

/** Controllers of Flux and Argo CD, which restore what a repository says. A forced change lasts only until their next sync. */
const syncing = ["kustomize-controller", "helm-controller", "argocd-controller", "argocd-application-controller"];

export function keptHint(kept: readonly Extract<ObjectChange, { readonly kind: "kept" }>[]): string {
	const changeable = kept.filter(({ anew }) => anew === undefined).flatMap(({ conflicts }) => conflicts);
	const takeOver = changeable.length > 0 ? [takeOverHint(changeable)] : [];
	return [...kept.flatMap(({ anew }) => anew ?? []), ...takeOver].join(". ");
}

/** `conflicts`: one text for each field, such as `.spec.replicas, kept by helm`. */
function takeOverHint(conflicts: readonly string[]): string {
	const keepers = syncing.filter((keeper) => conflicts.some((conflict) => conflict.endsWith(`, kept by ${keeper}`)));
	if (keepers.length === 0) return "Take them over with --force-conflicts, or ask their owner to release them";
	const takes = keepers.length === 1 ? "takes" : "take";
	return (
		`${keepers.join(" and ")} ${takes} back what --force-conflicts changes: write the objects into the repository instead, ` +
		"by the same command with --dry-run=client --output-dir=FOLDER"
	);
}

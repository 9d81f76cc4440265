import { expect, test } from "vitest";
import { keptHint } from "../../../plugin/install/kept-fields.ts";

test.each([
	["by force", [".rules, kept by helm", ".data, kept by kubectl-edit"], "Take them over with --force-conflicts"],
	["in the repository", [".rules, kept by helm", ".spec, kept by argocd-controller"], "argocd-controller takes back"],
	[
		"in both repositories",
		[".rules, kept by argocd-controller", ".spec, kept by kustomize-controller"],
		"kustomize-controller and argocd-controller take back",
	],
])("fields that somebody else keeps are changed %s", (_, conflicts, hint) => {
	expect(keptHint(conflicts)).toMatch(new RegExp(`^${hint}`));
});

import { expect, test } from "vitest";
import { keptHint } from "../../../plugin/install/kept-fields.ts";

const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "xpdb-fleet" } };

test.each([
	["by force", [".rules, kept by helm", ".data, kept by kubectl-edit"], "Take them over with --force-conflicts"],
	["in the repository", [".rules, kept by helm", ".spec, kept by argocd-controller"], "argocd-controller takes back"],
	[
		"in both repositories",
		[".rules, kept by argocd-controller", ".spec, kept by kustomize-controller"],
		"kustomize-controller and argocd-controller take back",
	],
])("fields that somebody else keeps are changed %s", (_, conflicts, hint) => {
	expect(keptHint([{ kind: "kept", object, conflicts }])).toMatch(new RegExp(`^${hint}`));
});

test("nobody is told to use force where it is refused too", () => {
	const fixed = { kind: "kept", object, conflicts: [".roleRef.name, kept by helm"], anew: "Delete it" } as const;
	expect(keptHint([fixed])).toBe("Delete it");
	const both = keptHint([{ kind: "kept", object, conflicts: [".rules, kept by helm"] }, fixed]);
	expect(both).toMatch(/^Delete it\. Take them over with --force-conflicts/);
});

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { findCrdBreaks } from "./crd-breaks.ts";
import { keptFile, keptVersions } from "./kept.ts";

type Definition = Parameters<typeof findCrdBreaks>[0];
const readDefinition = (file: string): Definition => parse(readFileSync(file, "utf8")) as Definition;
const today = readDefinition("agent/deploy/crd.yaml");

describe("the CustomResourceDefinition", () => {
	for (const version of keptVersions) {
		test(`takes every object that was valid in ${version}, and keeps its fields`, () => {
			expect(findCrdBreaks(readDefinition(keptFile(version, "crd.yaml")), today)).toEqual([]);
		});
	}
});

// biome-ignore format: one edit a line
const rows: readonly { readonly name: string; readonly edit: readonly [string, string]; readonly found: readonly string[] }[] = [
	{ name: "a field that is new", edit: ["probe:", "fresh: {type: string}\n                probe:"], found: [] },
	{ name: "another description", edit: ["A service that is asked", "A service asked"], found: [] },
	{ name: "one more short name", edit: ["- xpdb\n", "- xpdb\n      - xb\n"], found: [] },
	{ name: "a field that is gone", edit: ["suspend:", "suspended:"], found: ["v1alpha1.spec.suspend is gone"] },
	{ name: "a field of a list's items that is gone", edit: ["values:", "value:"], found: ["v1alpha1.spec.selector.matchExpressions.items.values is gone"] },
	{ name: "a field of another type", edit: ["endpoint:\n                      type: string", "endpoint:\n                      type: integer"], found: ['v1alpha1.spec.probe.endpoint: type was "string", is "integer"'] },
	{ name: "a field that is needed now", edit: ["spec:\n              type: object", "spec:\n              type: object\n              required: [selector]"], found: ["v1alpha1.spec.selector is required now"] },
	{ name: "one more field that is needed", edit: ["- operator\n", "- operator\n                          - values\n"], found: ["v1alpha1.spec.selector.matchExpressions.items.values is required now"] },
	{ name: "a rule that is new", edit: ["endpoint:\n                      type: string", "endpoint:\n                      type: string\n                      maxLength: 5"], found: [] },
	{ name: "a rule that is gone", edit: ["\n                        maxLength: 63", ""], found: ["v1alpha1.spec.selector.matchLabels.additionalProperties: maxLength was 63, is undefined"] },
	{ name: "a limit that no update gets past", edit: ["endpoint:\n                      type: string", "endpoint:\n                      type: string\n                      nullable: false"], found: ["v1alpha1.spec.probe.endpoint: nullable was undefined, is false"] },
	{ name: "a status that keeps less", edit: ["x-kubernetes-preserve-unknown-fields: true", "properties: {}"], found: ["v1alpha1.status: x-kubernetes-preserve-unknown-fields was true, is undefined"] },
	{ name: "a version that is not served", edit: ["served: true", "served: false"], found: ["version v1alpha1 is not served any more"] },
	{ name: "a version that has another name", edit: ["name: v1alpha1", "name: v1"], found: ["version v1alpha1 is gone"] },
	{ name: "a status without an endpoint of its own", edit: ["status: {}", "{}"], found: ['subresources of v1alpha1 was {"status":{}}, is {}'] },
	{ name: "another kind", edit: ["kind: XPodDisruptionBudget\n", "kind: Budget\n"], found: ['names.kind was "XPodDisruptionBudget", is "Budget"'] },
	{ name: "another scope", edit: ["Namespaced", "Cluster"], found: ['scope was "Namespaced", is "Cluster"'] },
];

describe("findCrdBreaks()", () => {
	const text = readFileSync("agent/deploy/crd.yaml", "utf8");
	for (const { name, edit, found } of rows) {
		test(`${found.length > 0 ? "tells of" : "lets pass"} ${name}`, () => {
			expect(text).toContain(edit[0]);
			expect(findCrdBreaks(today, parse(text.replace(edit[0], edit[1])) as Definition)).toEqual(found);
		});
	}
});

import { describe, expect, test } from "vitest";
import { fieldChanges } from "../../../plugin/install/object-changes.ts";

const deployment = (image: string, args: readonly string[], more: object = {}) => ({
	metadata: { name: "xpdb-agent", resourceVersion: image, managedFields: [image], labels: { a: "b" }, ...more },
	spec: { template: { spec: { containers: [{ name: "agent", image, args }, { name: "other" }] } } },
	status: { replicas: args.length },
});

describe("fieldChanges()", () => {
	test("names the fields that differ, items of lists by their names", () => {
		expect(fieldChanges(deployment("a:1", ["-x"]), deployment("a:2", ["-x", "-y"]))).toEqual([
			{ path: "spec.template.spec.containers[agent].image", from: "a:1", to: "a:2" },
			{ path: "spec.template.spec.containers[agent].args", from: ["-x"], to: ["-x", "-y"] },
		]);
	});

	test("leaves out what the API server writes itself", () => {
		expect(fieldChanges(deployment("a:1", []), { ...deployment("a:1", []), status: { replicas: 5 } })).toEqual([]);
		const changed = deployment("a:1", [], { resourceVersion: "2", generation: 3, uid: "u", managedFields: [] });
		expect(fieldChanges(deployment("a:1", []), changed)).toEqual([]);
	});

	test("has fields that come and go, and keys that are no words in quotes", () => {
		const now = { metadata: { labels: { "app/x": "1" } }, data: { gone: "1" } };
		const then = { metadata: { labels: { "app/x": "2" } }, data: {}, spec: { new: true } };
		expect(fieldChanges(now, then)).toEqual([
			{ path: "data.gone", from: "1", to: undefined },
			{ path: 'metadata.labels["app/x"]', from: "1", to: "2" },
			{ path: "spec", from: undefined, to: { new: true } },
		]);
	});

	test("tells items of lists by their names whatever their order", () => {
		const named = (...names: readonly string[]) => ({ spec: { subjects: names.map((name) => ({ name })) } });
		expect(fieldChanges(named("a", "b"), named("b", "a"))).toEqual([]);
		expect(fieldChanges(named("a"), named("b"))).toEqual([
			{ path: "spec.subjects[a]", from: { name: "a" }, to: undefined },
			{ path: "spec.subjects[b]", from: undefined, to: { name: "b" } },
		]);
	});
});

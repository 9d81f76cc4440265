import { describe, expect, test } from "vitest";
import { createPodProjection } from "../../../agent/cluster-api/pod-projection.ts";

function pod(name: string, more: { readonly owner?: string; readonly labels?: Readonly<Record<string, string>> } = {}) {
	const { owner, labels } = more;
	return {
		metadata: {
			name,
			namespace: "db",
			uid: `uid-${name}`,
			resourceVersion: "7",
			...(labels && { labels }),
			...(owner !== undefined && {
				ownerReferences: [
					{ apiVersion: "apps/v1", kind: "ReplicaSet", name: owner, uid: `uid-${owner}`, controller: true },
				],
			}),
		},
		spec: { nodeName: "n1" },
		status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] },
	};
}

describe("createPodProjection()", () => {
	test("keeps what podRecord keeps", () => {
		expect(createPodProjection()(pod("a", { owner: "web", labels: { app: "web" } }))).toEqual({
			uid: "uid-a",
			name: "a",
			namespace: "db",
			resourceVersion: "7",
			labels: { app: "web" },
			node: "n1",
			controller: { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid: "uid-web" },
			ready: true,
			terminating: false,
			finished: false,
			preActivities: [],
		});
	});

	test("shares labels and controller among the pods of one controller", () => {
		const project = createPodProjection();
		const first = project(pod("a", { owner: "web", labels: { app: "web" } }));
		const second = project(pod("b", { owner: "web", labels: { app: "web" } }));
		expect(second.labels).toBe(first.labels);
		expect(second.controller).toBe(first.controller);
	});

	const rows = [
		{ name: "another value", labels: { app: "web", tier: "b" } },
		{ name: "one label more", labels: { app: "web", tier: "a", index: "0" } },
		{ name: "one label less", labels: { app: "web" } },
		{ name: "another key", labels: { app: "web", rank: "a" } },
	];
	for (const { name, labels } of rows) {
		test(`does not share labels with ${name}`, () => {
			const project = createPodProjection();
			project(pod("a", { owner: "web", labels: { app: "web", tier: "a" } }));
			expect(project(pod("b", { owner: "web", labels })).labels).toEqual(labels);
		});
	}

	test("does not take two controllers of one name for the same", () => {
		const project = createPodProjection();
		const first = project(pod("a", { owner: "web" }));
		const { metadata, ...rest } = pod("b");
		const ownerReferences = [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid: "new", controller: true }];
		const second = project({ ...rest, metadata: { ...metadata, ownerReferences } });
		expect(first.controller?.uid).toBe("uid-web");
		expect(second.controller?.uid).toBe("new");
	});

	for (const garbled of [undefined, null, "pod", {}, { metadata: null }, { metadata: { name: "a" } }]) {
		test(`refuses ${JSON.stringify(garbled)}`, () => {
			expect(() => createPodProjection()(garbled)).toThrow(TypeError);
		});
	}
});

import { describe, expect, test } from "vitest";
import { createPodProjection } from "../../../agent/cluster-api/pod-projection.ts";
import { newV1Pod } from "../../support/build-v1-pod.ts";

function pod(
	name: string,
	{ owner, labels }: { readonly owner?: string; readonly labels?: Record<string, string> } = {},
) {
	return newV1Pod(name, {
		namespace: "db",
		ready: true,
		node: "n1",
		...(labels && { labels }),
		...(owner !== undefined && { owner: { kind: "ReplicaSet", name: owner } }),
	});
}

describe("createPodProjection()", () => {
	test("keeps what podRecord keeps", () => {
		expect(createPodProjection()(pod("a", { owner: "web", labels: { app: "web" } }))).toEqual({
			uid: "uid-a",
			name: "a",
			namespace: "db",
			resourceVersion: "1",
			labels: { app: "web" },
			node: "n1",
			controller: { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid: "uid-web" },
			ready: true,
			terminating: false,
			finished: false,
			preActivities: [],
		});
	});

	test("shares what the scheduler says of many pods", () => {
		const project = createPodProjection();
		const words = "0/3 nodes are available";
		const unscheduled = { type: "PodScheduled", status: "False", message: words };
		const [first, second] = ["a", "b"].map(
			(name) => project({ ...pod(name), status: { phase: "Pending", conditions: [unscheduled] } }).status,
		);
		expect(first).toEqual({ state: "Pending", message: words });
		expect(second).toEqual(first);
	});

	// Rejecting one pod would stop the watch on all pods.
	test.each([
		{ what: "no status at all", change: { status: undefined } },
		{ what: "a phase of its own", change: { status: { phase: "Sleeping", conditions: [{}] } } },
		{ what: "null for whatever may be left out", change: { spec: null, status: null } },
	])("reads a pod with $what as one that is not ready", ({ change }) => {
		expect(createPodProjection()({ ...pod("a"), ...change })).toMatchObject({ name: "a", ready: false });
	});

	test("reads whatever people may write into the metadata of a pod", () => {
		const { metadata, ...rest } = pod("a");
		const annotations = { "": "x", "pre-activity.xpdb.form3.tech/": "", odd: "\u0000{" };
		const ownerReferences = [{ apiVersion: "", kind: "Dog", name: "rex", uid: "1" }];
		const written = { ...metadata, annotations, ownerReferences, labels: { "": "", a: "" }, finalizers: null };
		expect(createPodProjection()({ ...rest, metadata: written })).toMatchObject({
			labels: { "": "", a: "" },
			ready: true,
		});
	});

	for (const garbled of [undefined, null, "pod", {}, { metadata: null }, { metadata: { name: "a" } }]) {
		test(`refuses ${JSON.stringify(garbled)}`, () => {
			expect(() => createPodProjection()(garbled)).toThrow(TypeError);
		});
	}
});

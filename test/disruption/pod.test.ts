import type { V1ObjectMeta, V1OwnerReference, V1Pod, V1PodStatus } from "@kubernetes/client-node";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { controllerOf, podRecord } from "../../disruption/budget/pod.ts";
import { isHealthy } from "../../disruption/budget/healthy.ts";

function newPod(fields: { metadata?: V1ObjectMeta; status?: V1PodStatus; node?: string } = {}): V1Pod {
	return {
		metadata: { uid: "u1", name: "web-0", namespace: "default", resourceVersion: "7", ...fields.metadata },
		...(fields.node !== undefined && { spec: { containers: [], nodeName: fields.node } }),
		status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }], ...fields.status },
	};
}

function owner(fields: Partial<V1OwnerReference>): V1OwnerReference {
	return { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid: "o1", ...fields };
}

describe("isHealthy()", () => {
	// The types have Dates, but objects from the wire have text.
	const wireTime = "2026-01-01T00:00:00Z" as unknown as Date;
	const rows: { name: string; pod: V1Pod; expected: boolean }[] = [
		{ name: "a ready pod", pod: newPod(), expected: true },
		{
			name: "a pod that is not ready",
			pod: newPod({ status: { conditions: [{ type: "Ready", status: "False" }] } }),
			expected: false,
		},
		{
			name: "a pod whose readiness is unknown, as on a lost node",
			pod: newPod({ status: { conditions: [{ type: "Ready", status: "Unknown" }] } }),
			expected: false,
		},
		{
			name: "a pod whose containers are ready, but not its gates",
			pod: newPod({
				status: {
					conditions: [
						{ type: "ContainersReady", status: "True" },
						{ type: "Ready", status: "False" },
					],
				},
			}),
			expected: false,
		},
		{ name: "a pod without conditions", pod: newPod({ status: { conditions: [] } }), expected: false },
		{ name: "a pod without a status", pod: { ...newPod(), status: {} }, expected: false },
		{
			name: "a pod that is still ready while it terminates",
			pod: newPod({ metadata: { deletionTimestamp: wireTime } }),
			expected: false,
		},
		{ name: "a finished pod", pod: newPod({ status: { phase: "Succeeded" } }), expected: false },
		{ name: "a failed pod", pod: newPod({ status: { phase: "Failed" } }), expected: false },
		// Kubernetes counts readiness, not the phase.
		{ name: "a ready pod of unknown phase", pod: newPod({ status: { phase: "Unknown" } }), expected: true },
	];
	for (const { name, pod, expected } of rows) {
		test(`says ${expected} of ${name}`, () => {
			expect(isHealthy(podRecord(pod))).toBe(expected);
		});
	}

	test("says true of no pod that is not ready, or terminating, or finished", () => {
		fc.assert(
			fc.property(fc.boolean(), fc.boolean(), fc.boolean(), (ready, terminating, finished) => {
				const record = { ...podRecord(newPod()), ready, terminating, finished };
				expect(isHealthy(record)).toBe(ready && !(terminating || finished));
			}),
		);
	});
});

describe("podRecord()", () => {
	test("keeps what is counted, and nothing else", () => {
		const pod = newPod({
			metadata: { labels: { app: "web" }, annotations: { note: "x" }, ownerReferences: [owner({ controller: true })] },
			node: "c1-n0",
		});
		expect(podRecord(pod)).toEqual({
			uid: "u1",
			name: "web-0",
			namespace: "default",
			resourceVersion: "7",
			labels: { app: "web" },
			node: "c1-n0",
			controller: { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid: "o1" },
			ready: true,
			terminating: false,
			finished: false,
			preActivities: [],
		});
	});

	const owners: { name: string; references: V1OwnerReference[] | undefined; expected: string | undefined }[] = [
		{ name: "no owner", references: undefined, expected: undefined },
		{ name: "an empty list", references: [], expected: undefined },
		{ name: "an owner that does not control", references: [owner({})], expected: undefined },
		{ name: "an owner that says it does not control", references: [owner({ controller: false })], expected: undefined },
		{
			name: "the one that controls among several",
			references: [owner({ uid: "o2" }), owner({ uid: "o3", controller: true })],
			expected: "o3",
		},
	];
	for (const { name, references, expected } of owners) {
		test(`finds ${expected ?? "no controller"} in ${name}`, () => {
			const pod = newPod({ metadata: references ? { ownerReferences: references } : {} });
			expect(podRecord(pod).controller?.uid).toBe(expected);
			expect(controllerOf(pod)?.uid).toBe(expected);
		});
	}

	const preActivities = [
		{ name: "no annotations", annotations: {}, expected: [] },
		{
			name: "annotations by their prefix, whatever they say",
			annotations: {
				"pre-activity.xpdb.form3.tech/backup": "true",
				"pre-activity.xpdb.form3.tech/flush": "",
				"pre-activity.example.com/other": "true",
				"xpdb.form3.tech/pre-activity": "true",
			},
			expected: ["backup", "flush"],
		},
	];
	for (const { name, annotations, expected } of preActivities) {
		test(`reads pre-activities from ${name}`, () => {
			expect(podRecord(newPod({ metadata: { annotations } })).preActivities).toEqual(expected);
		});
	}

	const unreadable: { name: string; pod: V1Pod }[] = [
		{ name: "no metadata", pod: {} },
		{ name: "no uid", pod: newPod({ metadata: { uid: "" } }) },
		{ name: "no name", pod: newPod({ metadata: { name: "" } }) },
		{ name: "no namespace", pod: newPod({ metadata: { namespace: "" } }) },
		{ name: "no resourceVersion", pod: newPod({ metadata: { resourceVersion: "" } }) },
	];
	for (const { name, pod } of unreadable) {
		test(`throws on a pod with ${name}`, () => {
			expect(() => podRecord(pod)).toThrow(TypeError);
		});
	}

	// If these were read loosely, a pod could count as terminating (free to go), as ready, or as one without a controller.
	const garbled: { name: string; metadata?: object; status?: object; says: string }[] = [
		{
			name: "a deletionTimestamp that is false",
			metadata: { deletionTimestamp: false },
			says: "deletionTimestamp is false",
		},
		{ name: "an empty deletionTimestamp", metadata: { deletionTimestamp: "" }, says: 'deletionTimestamp is ""' },
		{ name: "a version that is no number", metadata: { resourceVersion: "new" }, says: 'resourceVersion is "new"' },
		{ name: "a uid that is a number", metadata: { uid: 7 }, says: "metadata.uid is 7" },
		{ name: "labels that are a list", metadata: { labels: [] }, says: "labels is a list" },
		{ name: "a label that is a number", metadata: { labels: { app: 5 } }, says: 'label "app" is 5' },
		{
			name: "an owner that is null",
			metadata: { ownerReferences: [null] },
			says: "ownerReferences is not a list of objects",
		},
		{
			name: "an owner that says yes for true",
			metadata: { ownerReferences: [owner({ controller: "yes" as unknown as boolean })] },
			says: 'controller of its ownerReferences is "yes"',
		},
		{
			name: "a controller without a uid",
			metadata: { ownerReferences: [owner({ controller: true, uid: "" })] },
			says: 'the uid of its controller is ""',
		},
		{ name: "conditions that are an object", status: { conditions: {} }, says: "conditions is not a list of objects" },
		{ name: "a phase that is a list", status: { phase: [] }, says: "phase is a list" },
	];
	for (const { name, metadata = {}, status = {}, says } of garbled) {
		test(`throws on a pod with ${name}`, () => {
			const pod = newPod({ metadata, status });
			expect(() => podRecord(pod)).toThrow(new RegExp(`^cannot read pod "web-0": .*${says}`));
		});
	}
});

describe("controllerOf()", () => {
	test("names the object whose controller it cannot read", () => {
		const pod = newPod({ metadata: { ownerReferences: [owner({ controller: true, name: "" })] } });
		expect(() => controllerOf(pod)).toThrow(
			new TypeError('cannot read object "web-0": the name of its controller is ""'),
		);
	});

	test("throws on what has no metadata: nobody knows whether it has one", () => {
		expect(() => controllerOf({})).toThrow(new TypeError("cannot read object: its metadata is missing"));
	});
});

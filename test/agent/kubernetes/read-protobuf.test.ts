import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { describe, expect, test } from "vitest";
import { podFields, statusFields } from "../../../agent/kubernetes/protobuf-fields.ts";
import { readMessage, readProtobufObject, readWatchFrame } from "../../../agent/kubernetes/read-protobuf.ts";
import { podRecord } from "../../../disruption/budget/pod.ts";
import { encodeEvent, encodeObject } from "../../support/encode-protobuf.ts";

const pod = {
	metadata: {
		name: "db-0",
		namespace: "shop",
		uid: "uid-of-db-0",
		resourceVersion: "12",
		creationTimestamp: "2026-11-27T10:00:00Z",
		deletionTimestamp: "2026-11-27T10:00:30Z",
		deletionGracePeriodSeconds: 30,
		labels: { app: "db", tier: "", __proto__2: "x" },
		annotations: { "pre-activity.xpdb.form3.tech/flush": "" },
		ownerReferences: [
			{ kind: "Node", name: "n", uid: "u1", apiVersion: "v1" },
			{ kind: "StatefulSet", name: "db", uid: "u2", apiVersion: "apps/v1", controller: true },
		],
	},
	spec: { nodeName: "node-1", initContainers: [{ name: "init" }, { name: "side", restartPolicy: "Always" }] },
	status: {
		phase: "Running",
		conditions: [
			{ type: "PodScheduled", status: "True" },
			{ type: "Ready", status: "False", lastTransitionTime: "2026-11-27T10:00:10Z", reason: "NotReady", message: "no" },
		],
		containerStatuses: [
			{ name: "db", state: { waiting: { reason: "CrashLoopBackOff" } }, started: false },
			{ name: "b", state: { terminated: { exitCode: 0, signal: 9 } } },
			{ name: "c", state: { running: {} }, started: true },
		],
		initContainerStatuses: [{ name: "init", state: { terminated: { exitCode: 0, reason: "Completed" } } }],
	},
};

describe("readWatchFrame()", () => {
	test("gives a pod as its JSON would be, with the fields that are read", () => {
		const frame = encodeEvent("MODIFIED", encodeObject("Pod", pod, podFields));
		expect(readWatchFrame(frame, podFields)).toEqual({ type: "MODIFIED", object: pod });
		const { object } = readWatchFrame(frame, podFields);
		expect(podRecord(object)).toEqual(podRecord(pod));
	});

	test("leaves out what JSON leaves out: empty texts and times that are not set", () => {
		const bare = { metadata: { name: "a", namespace: "b", uid: "c", resourceVersion: "1" }, spec: {}, status: {} };
		const { object } = readWatchFrame(encodeEvent("ADDED", encodeObject("Pod", bare, podFields)), podFields);
		expect(object).toEqual(bare);
		expect(podRecord(object)).toMatchObject({ terminating: false, finished: false, node: "", ready: false });
	});

	test("keeps a label that is called as a member of every object", () => {
		const labels = JSON.parse('{ "__proto__": "x", "constructor": "y" }') as Record<string, string>;
		const { metadata } = pod;
		const named = { ...pod, metadata: { ...metadata, labels } };
		const { object } = readWatchFrame(encodeEvent("ADDED", encodeObject("Pod", named, podFields)), podFields);
		expect(Object.entries(podRecord(object).labels)).toEqual(Object.entries(podRecord(named).labels));
	});

	test("reads a time of 1970-01-01T00:00:00Z and one that JSON does not have: the pod is terminating", () => {
		const at = (deletionTimestamp: string) => encodeObject("Pod", { metadata: { deletionTimestamp } }, podFields);
		const first = { metadata: { deletionTimestamp: "1970-01-01T00:00:00Z" } };
		expect(readProtobufObject(at("1970-01-01T00:00:00Z"), podFields)).toMatchObject(first);
		const far = new BinaryWriter()
			.tag(1, WireType.Varint)
			.int64(2n ** 62n)
			.finish();
		const metadata = new BinaryWriter().tag(9, WireType.LengthDelimited).bytes(far).finish();
		const pod = readMessage(new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(metadata).finish(), podFields);
		expect(pod).toMatchObject({ metadata: { deletionTimestamp: expect.stringContaining("seconds after 1970") } });
	});

	test("reads as many owners as fit into an object", () => {
		const ownerReferences = Array.from({ length: 90_000 }, (_, number) => ({ uid: number.toString(36) }));
		const bytes = encodeObject("Pod", { metadata: { ownerReferences } }, podFields);
		const { metadata } = readProtobufObject(bytes, podFields);
		expect(metadata).toMatchObject({ ownerReferences: { length: 90_000 } });
	});

	test("reads an error in the place of a pod", () => {
		const gone = { code: 410, message: "too old resource version" };
		const frame = encodeEvent("ERROR", encodeObject("Status", gone, statusFields));
		expect(readWatchFrame(frame, podFields)).toEqual({ type: "ERROR", object: gone });
	});

	test("throws TypeError at a frame that was cut off anywhere, or reads a part of no pod", () => {
		const frame = encodeEvent("ADDED", encodeObject("Pod", pod, podFields));
		for (let length = 0; length < frame.length; length += 1) {
			const read = readOrError(frame.subarray(0, length));
			// Without an error only between the two fields of the event itself.
			expect(read === undefined || read instanceof TypeError).toBe(true);
		}
	});

	test("throws TypeError at an object without upstream's prefix, and at a field of another type", () => {
		expect(() => readWatchFrame(encodeEvent("ADDED", Buffer.from("{}")), podFields)).toThrow(TypeError);
		const wrong = encodeObject("Pod", { metadata: "x" }, { 1: { name: "metadata", type: "text" } });
		expect(() => readWatchFrame(encodeEvent("ADDED", wrong), podFields)).toThrow(TypeError);
		const number = encodeObject("Pod", { metadata: 5 }, { 1: { name: "metadata", type: "number" } });
		expect(() => readWatchFrame(encodeEvent("ADDED", number), podFields)).toThrow("field metadata has wire type 0");
	});
});

function readOrError(frame: Uint8Array): unknown {
	try {
		return readWatchFrame(frame, podFields).object;
	} catch (error) {
		return error;
	}
}

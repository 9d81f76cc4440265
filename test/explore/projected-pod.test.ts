import { expect, test } from "vitest";
import type { PodRecord } from "../../disruption/budget/pod.ts";
import { projectedPods } from "./projected-pod.ts";

test("projectedPods() makes the same pod, as the shipped projection reads it", () => {
	const pod: PodRecord = {
		uid: "u1",
		name: "web-0",
		namespace: "shop",
		resourceVersion: "7",
		labels: { app: "web" },
		node: "n1",
		controller: { apiVersion: "apps/v1", kind: "StatefulSet", name: "web", uid: "u0" },
		ready: true,
		terminating: false,
		finished: false,
		preActivities: ["backup"],
	};
	const projectedPod = projectedPods();
	expect(projectedPod(pod)).toEqual(pod);
	expect(projectedPod({ ...pod, ready: false, terminating: true })).toMatchObject({ ready: false, terminating: true });
	expect(projectedPod({ ...pod, finished: true })).toMatchObject({ finished: true });
});

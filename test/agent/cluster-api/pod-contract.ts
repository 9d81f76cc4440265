import { describe, expect, test } from "vitest";
import type { PodReference } from "../../../disruption/budget/cluster.ts";
import { parseLabelSelector } from "../../../disruption/budget/selector.ts";
import { compareResourceVersions } from "../../../disruption/resource-version.ts";
import type { ContractWorld } from "./contract-world.ts";

export function podRows(world: () => ContractWorld): void {
	describe("Pods", () => {
		test("getPod() gives the pod that has the name now, or that there is none", async () => {
			const { api, namespace } = world();
			expect(await api.getPod({ namespace, name: "pod-none" })).toEqual({ kind: "gone" });
			const first = await world().createPod({ name: "pod-read" });
			expect(await api.getPod(first)).toMatchObject({ kind: "present", pod: first });
			await world().removePod(first);
			expect(await api.getPod(first)).toEqual({ kind: "gone" });
			const second = await world().createPod({ name: "pod-read" });
			expect(second.uid).not.toBe(first.uid);
			expect(await api.getPod(first)).toMatchObject({ kind: "present", pod: { uid: second.uid } });
		});

		test("getPod() gives what everything is counted from", async () => {
			const { api } = world();
			// The garbage collector removes pods whose owner does not exist.
			const controller = await world().createController({ kind: "Rocket", name: "pod-owner", replicas: 1 });
			const pod = await world().createPod({
				name: "pod-projected",
				labels: { app: "db", tier: "" },
				annotations: { "pre-activity.xpdb.form3.tech/flush": "", other: "x" },
				controller,
			});
			const read = await api.getPod(pod);
			expect(read).toMatchObject({
				kind: "present",
				pod: {
					...pod,
					labels: { app: "db", tier: "" },
					controller,
					ready: false,
					terminating: false,
					finished: false,
					preActivities: ["flush"],
				},
			});
			await world().terminatePod(pod);
			expect(await api.getPod(pod)).toMatchObject({ kind: "present", pod: { uid: pod.uid, terminating: true } });
		});

		test("listSelectedPods() is consistent, and at least as new as every pod in it", async () => {
			const { api } = world();
			const namespace = world().namespace;
			const selected = parseLabelSelector({ matchLabels: { app: "listed" } }, "selector");
			for (let round = 1; round <= 3; round++) {
				const pod = await world().createPod({ name: `pod-listed-${round}`, labels: { app: "listed" } });
				const other = await world().createPod({ name: `pod-not-listed-${round}`, labels: { app: "other" } });
				const { pods, resourceVersion } = await api.listSelectedPods(namespace, selected);
				expect(pods.find(({ uid }) => uid === pod.uid)).toMatchObject({ ...pod, labels: { app: "listed" } });
				expect(pods.map(({ uid }) => uid)).not.toContain(other.uid);
				for (const each of pods) {
					expect(compareResourceVersions(resourceVersion, each.resourceVersion)).toBeGreaterThanOrEqual(0);
				}
				await world().removePod(pod);
				const left = await api.listSelectedPods(namespace, selected);
				expect(left.pods.map(({ uid }) => uid)).not.toContain(pod.uid);
			}
		});

		// Exactly what our own matching says: a pod that only the API server leaves out would not be counted.
		for (const [name, selector, matches] of [
			["In", { matchExpressions: [{ key: "tier", operator: "In", values: ["a", "b", ""] }] }, ["a", "b", "empty"]],
			["NotIn", { matchExpressions: [{ key: "tier", operator: "NotIn", values: ["a", ""] }] }, ["b", "none"]],
			["Exists", { matchExpressions: [{ key: "tier", operator: "Exists" }] }, ["a", "b", "empty"]],
			["DoesNotExist", { matchExpressions: [{ key: "tier", operator: "DoesNotExist" }] }, ["none"]],
			["an empty value", { matchLabels: { tier: "" } }, ["empty"]],
			["nothing", {}, ["a", "b", "empty", "none"]],
		] as const) {
			test(`listSelectedPods() selects as a budget does: ${name}`, async () => {
				const { api, namespace } = world();
				const of = `selected-by-${name.toLowerCase().replaceAll(" ", "-")}`;
				const made: string[] = [];
				for (const [pod, labels] of [
					["a", { tier: "a" }],
					["b", { tier: "b" }],
					["empty", { tier: "" }],
					["none", {}],
				] as const) {
					const { uid } = await world().createPod({ name: `${of}-${pod}`, labels });
					made.push(uid);
				}
				const { pods } = await api.listSelectedPods(namespace, parseLabelSelector(selector, "selector"));
				const found = pods.filter(({ uid }) => made.includes(uid)).map((pod) => pod.name.slice(of.length + 1));
				expect(found.toSorted()).toEqual([...matches]);
			});
		}
	});
}

export function touchRows(world: () => ContractWorld): void {
	async function versionOf(pod: PodReference): Promise<string> {
		const read = await world().api.getPod(pod);
		if (read.kind === "gone") throw new Error(`Pod "${pod.name}" is gone`);
		return read.pod.resourceVersion;
	}

	describe("touchPod()", () => {
		test("gives the pod a new version each time, with a value never used before", async () => {
			const { api } = world();
			const pod = await world().createPod({ name: "touched" });
			let before = await versionOf(pod);
			for (const value of ["one", "two", "three"]) {
				const touched = await api.touchPod(pod, value);
				const after = await versionOf(pod);
				expect(touched).toEqual({ kind: "touched", resourceVersion: after });
				expect(compareResourceVersions(after, before)).toBeGreaterThan(0);
				before = after;
			}
		});

		test("touches a pod that is terminating", async () => {
			const pod = await world().createPod({ name: "touched-terminating" });
			await world().terminatePod(pod);
			expect(await world().api.touchPod(pod, "one")).toMatchObject({ kind: "touched" });
		});

		test("leaves a pod of the same name and another uid alone", async () => {
			const { api } = world();
			const pod = await world().createPod({ name: "touched-not" });
			const before = await versionOf(pod);
			const uid = "00000000-0000-4000-8000-000000000000";
			expect(await api.touchPod({ ...pod, uid }, "one")).toEqual({ kind: "gone" });
			expect(await versionOf(pod)).toBe(before);
		});

		test("says that a pod is gone", async () => {
			const pod = await world().createPod({ name: "touched-late" });
			await world().removePod(pod);
			expect(await world().api.touchPod(pod, "one")).toEqual({ kind: "gone" });
		});
	});

	describe("markPendingDisruption()", () => {
		test("marks the pod, and keeps its other annotations", async () => {
			const pod = await world().createPod({ name: "marked", annotations: { other: "x" } });
			await world().api.markPendingDisruption(pod);
			await world().api.markPendingDisruption(pod);
			expect(await world().annotationsOf(pod)).toEqual({
				other: "x",
				"xpdb.form3.tech/has-pending-disruption": "true",
			});
		});

		test("has nothing to do for a pod that is gone or was replaced", async () => {
			const pod = await world().createPod({ name: "marked-late" });
			await world().api.markPendingDisruption({ ...pod, uid: "00000000-0000-4000-8000-000000000000" });
			expect(await world().annotationsOf(pod)).toEqual({});
			await world().removePod(pod);
			await world().api.markPendingDisruption(pod);
		});
	});
}

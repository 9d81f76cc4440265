import { expect } from "vitest";
import type { ApiObject } from "../../demo/apiserver/api-object.ts";
import type { ContractCase } from "./contract-case.ts";
import type { ContractWorld, OpenWatch, WatchEvent } from "./contract-world.ts";

function watchSet(world: ContractWorld, set: string, query: Readonly<Record<string, string>>): OpenWatch {
	const parameters = new URLSearchParams({ watch: "true", labelSelector: `set=${set}`, ...query });
	return world.watch(`${world.path("configmaps")}?${parameters.toString()}`);
}

const createMap = (world: ContractWorld, name: string, set: string) =>
	world.create(world.path("configmaps"), { metadata: { name, labels: { set } } });

const change = (world: ContractWorld, name: string, body: unknown) =>
	world.sent({
		method: "PATCH",
		path: world.path("configmaps", name),
		body,
		contentType: "application/merge-patch+json",
	});

const remove = (world: ContractWorld, name: string) =>
	world.call({ method: "DELETE", path: world.path("configmaps", name) });

const versionNow = async (world: ContractWorld): Promise<string> =>
	(await world.read(world.path("configmaps"))).metadata.resourceVersion;

const told = (events: readonly WatchEvent[]) => events.map(({ type, object }) => `${type} ${object.metadata.name}`);

export const watchCases: readonly ContractCase[] = [
	{
		name: "tells what is written after a version, in order, with the versions",
		async run(world) {
			const resourceVersion = await versionNow(world);
			await using watch = watchSet(world, "told", { resourceVersion });
			const created = await createMap(world, "told-a", "told");
			const changed = await change(world, "told-a", { data: { a: "1" } });
			await remove(world, "told-a");
			const events = await watch.next(3);
			expect(told(events)).toEqual(["ADDED told-a", "MODIFIED told-a", "DELETED told-a"]);
			expect(events[0]?.object).toMatchObject({ kind: "ConfigMap", apiVersion: "v1", metadata: created.metadata });
			expect(events[1]?.object.metadata.resourceVersion).toBe(changed.metadata.resourceVersion);
			const [, before, after] = events.map(({ object }) => BigInt(object.metadata.resourceVersion));
			expect(after).toBeGreaterThan(before ?? 0n);
		},
	},
	{
		name: "goes on from a version without a gap and without telling twice",
		async run(world) {
			const resourceVersion = await versionNow(world);
			await createMap(world, "resumed-a", "resumed");
			const { metadata } = await createMap(world, "resumed-b", "resumed");
			await createMap(world, "resumed-c", "resumed");
			await using all = watchSet(world, "resumed", { resourceVersion });
			expect(told(await all.next(3))).toEqual(["ADDED resumed-a", "ADDED resumed-b", "ADDED resumed-c"]);
			await using later = watchSet(world, "resumed", { resourceVersion: metadata.resourceVersion });
			expect(told(await later.next(1))).toEqual(["ADDED resumed-c"]);
			await createMap(world, "resumed-d", "resumed");
			expect(told(await later.next(1))).toEqual(["ADDED resumed-d"]);
		},
	},
	{
		name: "from a version that is forgotten is an event with a 410 Expired",
		async run(world) {
			// A kind that was installed later, because a young API server still has the first versions of its own kinds.
			const path = world.path("xpoddisruptionbudgets", "", "x-pdb.form3.tech/v1alpha1");
			await using watch = world.watch(`${path}?watch=true&resourceVersion=1`);
			expect(await watch.next(1)).toMatchObject([
				{ type: "ERROR", object: { kind: "Status", status: "Failure", reason: "Expired", code: 410 } },
			]);
		},
	},
	{
		name: "without a version begins with what there is",
		async run(world) {
			await createMap(world, "there-a", "there");
			await using watch = watchSet(world, "there", {});
			expect(told(await watch.next(1))).toEqual(["ADDED there-a"]);
			await createMap(world, "there-b", "there");
			expect(told(await watch.next(1))).toEqual(["ADDED there-b"]);
		},
	},
	{
		name: "streams a list, marks its end with a bookmark, and goes on; the oldest refuses it by a 422",
		async run(world) {
			const query = { sendInitialEvents: "true", resourceVersionMatch: "NotOlderThan", allowWatchBookmarks: "true" };
			if (world.target.isOldest) {
				// This answer makes agents list page by page.
				const parameters = new URLSearchParams({ watch: "true", ...query });
				const answer = await world.get(`${world.path("configmaps")}?${parameters.toString()}`);
				expect(answer).toMatchObject({ code: 422, body: { kind: "Status", reason: "Invalid" } });
				return;
			}
			await createMap(world, "streamed-a", "streamed");
			const { metadata } = await createMap(world, "streamed-b", "streamed");
			await using watch = watchSet(world, "streamed", query);
			const events = await watch.next(3);
			expect(told(events.slice(0, 2)).toSorted()).toEqual(["ADDED streamed-a", "ADDED streamed-b"]);
			expect(events[2]).toMatchObject({
				type: "BOOKMARK",
				object: { kind: "ConfigMap", metadata: { annotations: { "k8s.io/initial-events-end": "true" } } },
			});
			const end = events[2]?.object as ApiObject;
			expect(BigInt(end.metadata.resourceVersion)).toBeGreaterThanOrEqual(BigInt(metadata.resourceVersion));
			await remove(world, "streamed-a");
			expect(told(await watch.next(1))).toEqual(["DELETED streamed-a"]);
		},
	},
	{
		name: "refuses to stream a list without saying how old it may be",
		async run(world) {
			const answer = await world.get(`${world.path("configmaps")}?watch=true&sendInitialEvents=true`);
			expect(answer).toMatchObject({ code: 422, body: { kind: "Status", reason: "Invalid" } });
		},
	},
	{
		name: "tells of what leaves and enters its selector as deleted and added",
		async run(world) {
			await createMap(world, "moving", "inside");
			await using watch = watchSet(world, "inside", { resourceVersion: await versionNow(world) });
			await change(world, "moving", { metadata: { labels: { set: "outside" } } });
			await change(world, "moving", { data: { unseen: "yes" } });
			await change(world, "moving", { metadata: { labels: { set: "inside" } } });
			const events = await watch.next(2);
			expect(told(events)).toEqual(["DELETED moving", "ADDED moving"]);
			// The object as it last matched.
			expect(events[0]?.object.metadata.labels).toEqual({ set: "inside" });
		},
	},
	{
		name: "watches one object by its name",
		async run(world) {
			const fieldSelector = "metadata.name=by-name-b";
			await using watch = watchSet(world, "by-name", { resourceVersion: await versionNow(world), fieldSelector });
			await createMap(world, "by-name-a", "by-name");
			await createMap(world, "by-name-b", "by-name");
			expect(told(await watch.next(1))).toEqual(["ADDED by-name-b"]);
		},
	},
	{
		name: "ends when its time is over, with a bookmark before",
		async run(world) {
			const resourceVersion = await versionNow(world);
			const query = { resourceVersion, allowWatchBookmarks: "true", timeoutSeconds: "4" };
			await using watch = watchSet(world, "timed", query);
			// A write that the selector skips, so that a bookmark has a newer version to report.
			await createMap(world, "untimed", "another");
			const events = await watch.rest();
			expect(new Set(events.map(({ type }) => type))).toEqual(new Set(["BOOKMARK"]));
			const last = BigInt(events.at(-1)?.object.metadata.resourceVersion ?? 0);
			expect(last).toBeGreaterThanOrEqual(BigInt(resourceVersion));
		},
	},
	{
		name: "tells of a pod's way through its deletion",
		async run(world) {
			await world.createPod({ name: "watched", labels: { set: "watched" }, phase: "Running" });
			const { metadata } = await world.read(world.path("pods"));
			const query = `watch=true&labelSelector=set%3Dwatched&resourceVersion=${metadata.resourceVersion}`;
			await using watch = world.watch(`${world.path("pods")}?${query}`);
			const path = world.path("pods", "watched");
			await world.call({ method: "DELETE", path });
			await world.call({ method: "DELETE", path, body: { gracePeriodSeconds: 0 } });
			const events = await watch.next(3);
			expect(told(events)).toEqual(["MODIFIED watched", "MODIFIED watched", "DELETED watched"]);
			const grace = events.map(({ object }) => object.metadata.deletionGracePeriodSeconds);
			expect(grace).toEqual([30, 0, 0]);
		},
	},
	{
		name: "tells of the end of a pod that was never started in two steps too",
		async run(world) {
			await world.createPod({ name: "unstarted", labels: { set: "unstarted" } });
			const { metadata } = await world.read(world.path("pods"));
			const query = `watch=true&labelSelector=set%3Dunstarted&resourceVersion=${metadata.resourceVersion}`;
			await using watch = world.watch(`${world.path("pods")}?${query}`);
			await world.call({ method: "DELETE", path: world.path("pods", "unstarted") });
			expect(told(await watch.next(2))).toEqual(["MODIFIED unstarted", "DELETED unstarted"]);
		},
	},
];

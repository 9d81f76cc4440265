import { expect } from "vitest";
import type { ContractCase } from "./contract-case.ts";
import type { ContractWorld } from "./contract-world.ts";

const remove = (world: ContractWorld, path: string, body?: unknown, query = "") =>
	world.call({ method: "DELETE", path: path + query, body });

export const deletionCases: readonly ContractCase[] = [
	{
		name: "gives a running pod its time, which a second deletion may shorten, until it is gone",
		async run(world) {
			await world.createPod({ name: "slow", phase: "Running" });
			const path = world.path("pods", "slow");
			const first = await remove(world, path);
			expect(first).toMatchObject({ code: 200, body: { kind: "Pod", metadata: { deletionGracePeriodSeconds: 30 } } });
			const longer = await remove(world, path, { gracePeriodSeconds: 60 });
			expect(longer).toMatchObject({ code: 200, body: { metadata: { deletionGracePeriodSeconds: 30 } } });
			const shorter = await remove(world, path, { gracePeriodSeconds: 3 });
			expect(shorter).toMatchObject({ code: 200, body: { metadata: { deletionGracePeriodSeconds: 3 } } });
			expect(await remove(world, path, { gracePeriodSeconds: 0 })).toMatchObject({ code: 200 });
			expect(await world.findPod("slow")).toBeUndefined();
			expect(await remove(world, path)).toMatchObject({ code: 404, body: { reason: "NotFound" } });
		},
	},
	{
		name: "holds a pod with a finalizer until somebody takes that away",
		async run(world) {
			await world.createPod({ name: "final", finalizers: ["test.xpdb.form3.tech/hold"] });
			const path = world.path("pods", "final");
			await remove(world, path, { gracePeriodSeconds: 0 });
			expect((await world.findPod("final"))?.metadata.deletionTimestamp).toBeDefined();
			await world.patch(path, { metadata: { finalizers: null } }, "application/merge-patch+json");
			expect(await world.findPod("final")).toBeUndefined();
		},
	},
	{
		name: "refuses another uid with a 409",
		async run(world) {
			await world.createPod({ name: "kept-by-uid" });
			const answer = await remove(world, world.path("pods", "kept-by-uid"), { preconditions: { uid: "another" } });
			expect(answer).toMatchObject({ code: 409, body: { reason: "Conflict", details: { name: "kept-by-uid" } } });
			expect(await world.findPod("kept-by-uid")).toBeDefined();
		},
	},
	{
		name: "changes nothing in a dry run",
		async run(world) {
			const pod = await world.createPod({ name: "dry-delete", phase: "Running" });
			expect(await remove(world, world.path("pods", "dry-delete"), { dryRun: ["All"] })).toMatchObject({ code: 200 });
			expect(await remove(world, world.path("pods", "dry-delete"), undefined, "?dryRun=All")).toMatchObject({
				code: 200,
			});
			expect(await world.findPod("dry-delete")).toEqual(pod);
		},
	},
	{
		name: "answers with what was deleted, for kinds that are gone at once",
		async run(world) {
			const path = world.path("configmaps");
			const { metadata } = await world.create(path, { metadata: { name: "gone" }, data: { a: "1" } });
			expect(await remove(world, `${path}/gone`)).toMatchObject({
				code: 200,
				body: { kind: "Status", status: "Success", details: { name: "gone", kind: "configmaps", uid: metadata.uid } },
			});
		},
	},
	{
		name: "ends a foreground deletion of an object that owns nothing, whatever its kind",
		async run(world) {
			const path = world.path("configmaps");
			await world.create(path, { metadata: { name: "in-front" }, data: { a: "1" } });
			await remove(world, `${path}/in-front`, { propagationPolicy: "Foreground" });
			await world.until("it is gone", async () => (await world.get(`${path}/in-front`)).code === 404);
		},
	},
	{
		name: "takes pods away whose controller is gone",
		async run(world) {
			const labels = { app: "owner" };
			const sets = world.path("replicasets", "", "apps/v1");
			const template = {
				metadata: { labels },
				spec: { schedulerName: "nobody", containers: [{ name: "main", image: "none" }] },
			};
			await world.create(sets, {
				metadata: { name: "owner" },
				spec: { replicas: 2, selector: { matchLabels: labels }, template },
			});
			const pods = `${world.path("pods")}?labelSelector=app%3Downer`;
			const count = async () => ((await world.get(pods)).body as { items: unknown[] }).items.length;
			await world.until("two pods", async () => (await count()) === 2);
			await remove(world, `${sets}/owner`, { propagationPolicy: "Background" });
			await world.until("no pods", async () => (await count()) === 0);
		},
	},
];

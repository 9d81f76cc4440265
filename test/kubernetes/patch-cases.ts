import { expect } from "vitest";
import { type ApiObject, listAt, valueAt } from "../../demo/apiserver/api-object.ts";
import type { ContractCase } from "./contract-case.ts";
import type { ContractWorld } from "./contract-world.ts";

const merge = "application/merge-patch+json";
const json = "application/json-patch+json";

/**
 * Creates a node that takes no pods. The creator keeps owning a label, because the API server stops tracking an object without field
 * owners.
 */
async function createNode(world: ContractWorld, name: string): Promise<string> {
	const path = `/api/v1/nodes/${world.namespace}-${name}`;
	await world.create("/api/v1/nodes", {
		metadata: { name: `${world.namespace}-${name}`, labels: { contract: name } },
		spec: { unschedulable: true },
	});
	return path;
}

export const patchCases: readonly ContractCase[] = [
	{
		name: "uncordoning takes the field away, cordoning sets it, and both are strategic",
		async run(world) {
			const path = await createNode(world, "cordoned");
			const uncordoned = await world.patch(path, { spec: { unschedulable: null } });
			expect(uncordoned.code).toBe(200);
			expect((uncordoned.body as ApiObject).spec).not.toHaveProperty("unschedulable");
			expect(await world.patch(path, { spec: { unschedulable: true } })).toMatchObject({
				code: 200,
				body: { kind: "Node", spec: { unschedulable: true } },
			});
			await world.call({ method: "DELETE", path });
		},
	},
	{
		name: "who cordons last is known, and forgotten with the cordon",
		async run(world) {
			const path = await createNode(world, "owned");
			const owners = async (): Promise<readonly unknown[]> =>
				listAt(await world.read(path), "metadata.managedFields")
					.filter((entry) => valueAt(entry, "fieldsV1.f:spec.f:unschedulable") !== undefined)
					.map(({ manager }) => manager);
			const write = async (manager: string, unschedulable: true | null): Promise<readonly unknown[]> => {
				expect(await world.patch(`${path}?fieldManager=${manager}`, { spec: { unschedulable } })).toMatchObject({
					code: 200,
				});
				return owners();
			};
			expect(await write("first", null)).toEqual([]);
			expect(await write("first", true)).toEqual(["first"]);
			// This write changes nothing, so it owns nothing.
			expect(await write("second", true)).toEqual(["first"]);
			expect(await write("second", null)).toEqual([]);
			expect(await write("second", true)).toEqual(["second"]);
			await world.call({ method: "DELETE", path });
		},
	},
	{
		name: "a dry run answers with the change and does not make it",
		async run(world) {
			const path = await createNode(world, "dry");
			const answer = await world.patch(`${path}?dryRun=All`, { spec: { unschedulable: null } });
			expect(answer.code).toBe(200);
			expect((answer.body as ApiObject).spec).not.toHaveProperty("unschedulable");
			expect((await world.read(path)).spec).toHaveProperty("unschedulable", true);
			await world.call({ method: "DELETE", path });
		},
	},
	{
		name: "a strategic merge adds a condition by its type, and loses none",
		async run(world) {
			await world.createPod({ name: "touched", phase: "Running" });
			const { metadata } = (await world.findPod("touched")) as ApiObject;
			const condition = {
				type: "xpdb.form3.tech/ReservationCancelled",
				status: "True",
				reason: "ReservationCancelled",
				message: "one",
				lastTransitionTime: "2026-11-21T00:00:00Z",
			};
			const path = `${world.path("pods", "touched")}/status`;
			const touch = (message: string) =>
				world.patch(path, { metadata: { uid: metadata.uid }, status: { conditions: [{ ...condition, message }] } });
			const first = (await touch("one")).body as ApiObject;
			const again = (await touch("one")).body as ApiObject;
			const second = (await touch("two")).body as ApiObject;
			const types = (pod: ApiObject) => listAt(pod, "status.conditions").map(({ type }) => String(type));
			expect(types(first).toSorted()).toEqual(["Ready", condition.type]);
			expect(first.metadata.resourceVersion).not.toBe(metadata.resourceVersion);
			// Setting an existing value is no change, so the version stays.
			expect(again.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
			expect(second.metadata.resourceVersion).not.toBe(first.metadata.resourceVersion);
			expect(second.status?.["conditions"]).toContainEqual(expect.objectContaining({ message: "two" }));
		},
	},
	{
		name: "a patch that names another uid changes nothing",
		async run(world) {
			const pod = await world.createPod({ name: "same-uid" });
			const body = { metadata: { uid: "another", annotations: { a: "1" } } };
			const answer = await world.patch(`${world.path("pods", "same-uid")}/status`, body, merge);
			expect([409, 422]).toContain(answer.code);
			expect(await world.findPod("same-uid")).toEqual(pod);
		},
	},
	{
		name: "a pod's annotations may come with its status",
		async run(world) {
			const pod = await world.createPod({ name: "marked", annotations: { kept: "yes" } });
			const body = { metadata: { uid: pod.metadata.uid, annotations: { marked: "yes" } } };
			expect(await world.patch(`${world.path("pods", "marked")}/status`, body, merge)).toMatchObject({ code: 200 });
			expect((await world.findPod("marked"))?.metadata.annotations).toEqual({ kept: "yes", marked: "yes" });
		},
	},
	{
		name: "a merge patch takes away what is null, and replaces lists",
		async run(world) {
			const path = world.path("configmaps");
			await world.create(path, { metadata: { name: "merged", labels: { a: "1" } }, data: { b: "2", c: "3" } });
			const body = { metadata: { labels: { a: null } }, data: { c: "4" } };
			const { metadata, ...rest } = (await world.patch(`${path}/merged`, body, merge)).body as ApiObject;
			expect(metadata.labels).toBeUndefined();
			expect(rest["data"]).toEqual({ b: "2", c: "4" });
		},
	},
	{
		name: "a JSON patch runs its operations in order",
		async run(world) {
			const path = world.path("configmaps");
			await world.create(path, { metadata: { name: "operated" }, data: { a: "1" } });
			const operations = [
				{ op: "test", path: "/data/a", value: "1" },
				{ op: "replace", path: "/data/a", value: "2" },
				{ op: "add", path: "/data/b", value: "3" },
			];
			const answer = await world.patch(`${path}/operated`, operations, json);
			expect(answer).toMatchObject({ code: 200, body: { data: { a: "2", b: "3" } } });
		},
	},
	{
		name: "a patch with a version that is not the latest is a 409",
		async run(world) {
			const path = world.path("configmaps");
			const { metadata } = await world.create(path, { metadata: { name: "patched" } });
			await world.patch(`${path}/patched`, { data: { a: "1" } }, merge);
			const { resourceVersion } = metadata;
			const answer = await world.patch(`${path}/patched`, { metadata: { resourceVersion }, data: { a: "2" } }, merge);
			expect(answer).toMatchObject({ code: 409, body: { reason: "Conflict" } });
		},
	},
	{
		name: "status and the rest are written apart",
		async run(world) {
			await world.createPod({ name: "apart", phase: "Running" });
			const path = world.path("pods", "apart");
			await world.patch(path, { metadata: { labels: { a: "1" } }, status: { phase: "Failed" } });
			await world.patch(`${path}/status`, { spec: { nodeName: "elsewhere" }, status: { message: "hello" } });
			const pod = await world.findPod("apart");
			expect(pod?.metadata.labels).toEqual({ a: "1" });
			expect(pod?.spec).toHaveProperty("nodeName", "nowhere");
			expect(pod?.status).toMatchObject({ phase: "Running", message: "hello" });
		},
	},
	{
		name: "what is not there cannot be patched",
		async run(world) {
			const answer = await world.patch(world.path("configmaps", "nothing"), { data: {} }, merge);
			expect(answer).toMatchObject({ code: 404, body: { reason: "NotFound" } });
		},
	},
	{
		name: "a body of a type that nobody knows is a 415",
		async run(world) {
			const path = world.path("configmaps");
			await world.create(path, { metadata: { name: "typed" } });
			const answer = await world.patch(`${path}/typed`, { data: {} }, "application/json");
			expect(answer).toMatchObject({ code: 415, body: { kind: "Status", reason: "UnsupportedMediaType" } });
		},
	},
];

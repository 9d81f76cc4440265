import { expect } from "vitest";
import type { ContractCase } from "./contract-case.ts";

const evicted = { kind: "Status", apiVersion: "v1", status: "Success" };
const conflict = { kind: "Status", status: "Failure", reason: "Conflict", code: 409 };

export const evictionCases: readonly ContractCase[] = [
	{
		name: "takes a pod away at once that was never started",
		async run(world) {
			await world.createPod({ name: "pending" });
			expect(await world.evict("pending")).toMatchObject({ code: 201, body: evicted });
			expect(await world.findPod("pending")).toBeUndefined();
		},
	},
	{
		name: "gives a running pod its own time to end, and says why it ends",
		async run(world) {
			await world.createPod({ name: "running", phase: "Running", graceSeconds: 77 });
			expect(await world.evict("running")).toMatchObject({ code: 201, body: evicted });
			const pod = await world.findPod("running");
			expect(pod?.metadata).toMatchObject({ deletionGracePeriodSeconds: 77 });
			const inSeconds = (Date.parse(pod?.metadata.deletionTimestamp ?? "") - Date.now()) / 1_000;
			expect(Math.abs(inSeconds - 77)).toBeLessThan(10);
			expect(pod?.status?.["conditions"]).toContainEqual(
				expect.objectContaining({ type: "DisruptionTarget", status: "True", reason: "EvictionByEvictionAPI" }),
			);
		},
	},
	{
		name: "shortens that time where the eviction asks for it",
		async run(world) {
			await world.createPod({ name: "shortened", phase: "Running" });
			expect(await world.evict("shortened", { gracePeriodSeconds: 5 })).toMatchObject({ code: 201 });
			expect((await world.findPod("shortened"))?.metadata.deletionGracePeriodSeconds).toBe(5);
		},
	},
	{
		name: "takes annotations, and preconditions that hold",
		async run(world) {
			const { metadata } = await world.createPod({ name: "held", phase: "Running" });
			const { uid, resourceVersion } = metadata;
			const answer = await world.call({
				method: "POST",
				path: `${world.path("pods", "held")}/eviction`,
				body: {
					apiVersion: "policy/v1",
					kind: "Eviction",
					metadata: { name: "held", namespace: world.namespace, annotations: { "xpdb.form3.tech/reservation": "r" } },
					deleteOptions: { preconditions: { uid, resourceVersion } },
				},
			});
			expect(answer).toMatchObject({ code: 201, body: evicted });
			expect((await world.findPod("held"))?.metadata.deletionTimestamp).toBeDefined();
		},
	},
	{
		name: "refuses another uid with a 409, and leaves the pod alone",
		async run(world) {
			const pod = await world.createPod({ name: "other-uid", phase: "Running" });
			const answer = await world.evict("other-uid", { preconditions: { uid: "another" } });
			expect(answer).toMatchObject({ code: 409, body: conflict });
			expect(answer.body).toHaveProperty(
				"message",
				`Operation cannot be fulfilled on Pod "other-uid": the UID in the precondition (another) does not match the UID in record (${pod.metadata.uid}). The object might have been deleted and then recreated`,
			);
			expect(await world.findPod("other-uid")).toEqual(pod);
		},
	},
	{
		name: "refuses a version that is not the latest with a 409, and leaves the pod alone",
		async run(world) {
			const { metadata } = await world.createPod({ name: "stale", phase: "Running" });
			await world.patch(`${world.path("pods", "stale")}/status`, {
				status: { conditions: [{ type: "Touched", status: "True" }] },
			});
			const touched = await world.findPod("stale");
			const { uid, resourceVersion } = metadata;
			const answer = await world.evict("stale", { preconditions: { uid, resourceVersion } });
			expect(answer).toMatchObject({ code: 409, body: conflict });
			expect(await world.findPod("stale")).toEqual(touched);
		},
	},
	{
		name: "refuses a stale version of a pod that was never started too",
		async run(world) {
			const { metadata } = await world.createPod({ name: "stale-pending" });
			await world.patch(world.path("pods", "stale-pending"), { metadata: { labels: { moved: "yes" } } });
			const { resourceVersion } = metadata;
			expect(await world.evict("stale-pending", { preconditions: { resourceVersion } })).toMatchObject({ code: 409 });
			expect(await world.findPod("stale-pending")).toBeDefined();
		},
	},
	{
		name: "says 404 where there is no such pod",
		async run(world) {
			const answer = await world.evict("missing");
			expect(answer).toMatchObject({
				code: 404,
				body: {
					kind: "Status",
					status: "Failure",
					reason: "NotFound",
					message: 'pods "missing" not found',
					details: { name: "missing", kind: "pods" },
				},
			});
		},
	},
	{
		name: "refuses another name in the body than in the path",
		async run(world) {
			const answer = await world.call({
				method: "POST",
				path: `${world.path("pods", "one")}/eviction`,
				body: { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "two", namespace: world.namespace } },
			});
			expect(answer).toMatchObject({ code: 400, body: { reason: "BadRequest" } });
		},
	},
	{
		name: "accepts a pod that is terminating already",
		async run(world) {
			await world.createPod({ name: "twice", phase: "Running" });
			await world.evict("twice");
			const before = await world.findPod("twice");
			expect(await world.evict("twice")).toMatchObject({ code: 201, body: evicted });
			expect((await world.findPod("twice"))?.metadata.deletionTimestamp).toBe(before?.metadata.deletionTimestamp);
		},
	},
	{
		name: "changes nothing in a dry run that the body asks for",
		async run(world) {
			const pod = await world.createPod({ name: "dry-body", phase: "Running" });
			expect(await world.evict("dry-body", { dryRun: ["All"] })).toMatchObject({ code: 201, body: evicted });
			expect(await world.findPod("dry-body")).toEqual(pod);
		},
	},
	{
		name: "changes nothing in a dry run that the query asks for",
		async run(world) {
			const pod = await world.createPod({ name: "dry-query", phase: "Running" });
			expect(await world.evict("dry-query", undefined, "?dryRun=All")).toMatchObject({ code: 201, body: evicted });
			expect(await world.findPod("dry-query")).toEqual(pod);
		},
	},
	{
		name: "is forbidden in a namespace that ends, with that as the cause",
		async run(world) {
			const namespace = `${world.namespace}-ends`;
			await world.createNamespace(namespace);
			const finalizers = ["test.xpdb.form3.tech/hold"];
			await world.createPod({ name: "last", namespace, phase: "Running", finalizers });
			await world.call({ method: "DELETE", path: `/api/v1/namespaces/${namespace}` });
			const path = `/api/v1/namespaces/${namespace}/pods/last`;
			const body = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "last", namespace } };
			// Admission notices a moment later that the namespace is terminating.
			await world.until("a refusal", async () => {
				return (await world.call({ method: "POST", path: `${path}/eviction`, body })).code === 403;
			});
			const answer = await world.call({ method: "POST", path: `${path}/eviction`, body });
			expect(answer.body).toMatchObject({
				reason: "Forbidden",
				details: { causes: [{ reason: "NamespaceTerminating" }] },
			});
			await world.patch(path, { metadata: { finalizers: null } }, "application/merge-patch+json");
			await world.call({ method: "DELETE", path, body: { gracePeriodSeconds: 0 } });
		},
	},
];

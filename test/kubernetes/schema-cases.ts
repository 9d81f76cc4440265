import { expect } from "vitest";
import type { ContractCase } from "./contract-case.ts";
import type { ContractWorld } from "./contract-world.ts";

const group = "x-pdb.form3.tech/v1alpha1";
const budgets = (world: ContractWorld, name = "") => world.path("xpoddisruptionbudgets", name, group);
const spec = { maxUnavailable: 1, selector: { matchLabels: { app: "db" } } };

const createBudget = (world: ContractWorld, name: string) =>
	world.create(budgets(world), { apiVersion: group, kind: "XPodDisruptionBudget", metadata: { name }, spec });

async function resources(world: ContractWorld, path: string): Promise<readonly Record<string, unknown>[]> {
	const answer = await world.get(path);
	expect(answer).toMatchObject({ code: 200, body: { kind: "APIResourceList" } });
	return (answer.body as { resources: Record<string, unknown>[] }).resources;
}

const configMaps = { apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"] };

export const schemaCases: readonly ContractCase[] = [
	{
		name: "XPodDisruptionBudgets are served, with their kind in lists",
		async run(world) {
			const created = await createBudget(world, "served");
			expect(created).toMatchObject({ kind: "XPodDisruptionBudget", spec, metadata: { generation: 1 } });
			const { body } = await world.get(budgets(world));
			expect(body).toMatchObject({ kind: "XPodDisruptionBudgetList", items: [{ kind: "XPodDisruptionBudget", spec }] });
		},
	},
	{
		name: "the generation of a budget counts changes of its spec alone",
		async run(world) {
			await createBudget(world, "counted");
			const merge = "application/merge-patch+json";
			const changed = await world.patch(budgets(world, "counted"), { spec: { suspend: true } }, merge);
			expect(changed.body).toMatchObject({ metadata: { generation: 2 } });
			const marked = await world.patch(budgets(world, "counted"), { metadata: { labels: { a: "1" } } }, merge);
			expect(marked.body).toMatchObject({ metadata: { generation: 2, labels: { a: "1" } } });
		},
	},
	{
		name: "a strategic merge of a custom resource is a 415",
		async run(world) {
			await createBudget(world, "custom");
			const answer = await world.patch(budgets(world, "custom"), { spec: { suspend: true } });
			expect(answer).toMatchObject({ code: 415, body: { reason: "UnsupportedMediaType" } });
		},
	},
	{
		name: "discovery names the budgets, evictions and scales",
		async run(world) {
			expect(await resources(world, `/apis/${group}`)).toContainEqual(
				expect.objectContaining({ name: "xpoddisruptionbudgets", kind: "XPodDisruptionBudget", namespaced: true }),
			);
			expect(await resources(world, "/api/v1")).toContainEqual(
				expect.objectContaining({ name: "pods/eviction", group: "policy", version: "v1", kind: "Eviction" }),
			);
			expect(await resources(world, "/apis/apps/v1")).toContainEqual(
				expect.objectContaining({ name: "statefulsets/scale", kind: "Scale" }),
			);
		},
	},
	{
		name: "discovery lists the versions and groups",
		async run(world) {
			expect((await world.get("/api")).body).toMatchObject({ kind: "APIVersions", versions: ["v1"] });
			const { body } = await world.get("/apis");
			expect(body).toMatchObject({ kind: "APIGroupList" });
			const { groups } = body as { groups: { name: string; preferredVersion: { groupVersion: string } }[] };
			for (const [name, groupVersion] of [
				["apps", "apps/v1"],
				["policy", "policy/v1"],
				["x-pdb.form3.tech", group],
			]) {
				expect(groups).toContainEqual(
					expect.objectContaining({ name, preferredVersion: expect.objectContaining({ groupVersion }) as unknown }),
				);
			}
		},
	},
	{
		// A real API server enforces policies that are bound. The small one only stores them.
		name: "a policy is kept as it was applied, and refuses nothing without a binding",
		async run(world) {
			const policies = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";
			const name = `${world.namespace}-refuses-all`;
			const policy = {
				failurePolicy: "Fail",
				matchConstraints: { resourceRules: [{ ...configMaps, operations: ["CREATE"] }] },
				validations: [{ expression: "false", message: "No" }],
			};
			const created = await world.create(policies, { metadata: { name }, spec: policy });
			expect(created).toMatchObject({ kind: "ValidatingAdmissionPolicy", spec: policy });
			await world.create(world.path("configmaps"), { metadata: { name: "not-refused" } });
			expect((await world.call({ method: "DELETE", path: `${policies}/${name}` })).code).toBe(200);
		},
	},
	{
		name: "a group that is not served is a 404",
		async run(world) {
			expect((await world.get("/apis/unknown.example.com/v1")).code).toBe(404);
			expect((await world.get(world.path("unknowns", "", "unknown.example.com/v1"))).code).toBe(404);
		},
	},
	{
		name: "the scale of a StatefulSet is read and changed",
		async run(world) {
			const sets = world.path("statefulsets", "", "apps/v1");
			const labels = { app: "scaled" };
			const { metadata } = await world.create(sets, {
				metadata: { name: "scaled" },
				spec: {
					replicas: 0,
					serviceName: "scaled",
					selector: { matchLabels: labels },
					template: {
						metadata: { labels },
						spec: { schedulerName: "nobody", containers: [{ name: "main", image: "none" }] },
					},
				},
			});
			const path = `${sets}/scaled/scale`;
			const before = await world.read(path);
			expect(before).toMatchObject({
				kind: "Scale",
				apiVersion: "autoscaling/v1",
				metadata: { name: "scaled", uid: metadata.uid },
				status: { selector: "app=scaled" },
			});
			expect(before.spec?.["replicas"]).toBeUndefined();
			const answer = await world.patch(path, { spec: { replicas: 1 } }, "application/merge-patch+json");
			expect(answer).toMatchObject({ code: 200, body: { kind: "Scale", spec: { replicas: 1 } } });
			expect((await world.read(`${sets}/scaled`)).spec).toMatchObject({ replicas: 1 });
			await world.call({ method: "DELETE", path: `${sets}/scaled` });
		},
	},
	{
		name: "nothing is made in a namespace that is not there",
		async run(world) {
			const body = { metadata: { name: "a" } };
			const answer = await world.call({ method: "POST", path: "/api/v1/namespaces/nowhere/configmaps", body });
			expect(answer).toMatchObject({
				code: 404,
				body: { reason: "NotFound", details: { name: "nowhere", kind: "namespaces" } },
			});
		},
	},
	{
		name: "a name is made up where only its beginning is given",
		async run(world) {
			const { metadata } = await world.create(world.path("configmaps"), { metadata: { generateName: "made-" } });
			expect(metadata.name).toMatch(/^made-[a-z0-9]{5}$/);
		},
	},
	{
		name: "an object without a name is a 422",
		async run(world) {
			const answer = await world.call({ method: "POST", path: world.path("configmaps"), body: { metadata: {} } });
			expect(answer).toMatchObject({
				code: 422,
				body: { reason: "Invalid", details: { causes: [{ field: "metadata.name" }] } },
			});
		},
	},
];

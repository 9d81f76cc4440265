import { expect } from "vitest";
import type { ContractCase } from "./contract-case.ts";

const forbidden = { kind: "Status", status: "Failure", reason: "Forbidden", code: 403 };

export const identityCases: readonly ContractCase[] = [
	{
		name: "nobody in particular is anonymous, and has no rights",
		async run(world) {
			const path = world.path("pods");
			expect(await world.call({ method: "GET", path, as: "nobody" })).toMatchObject({
				code: 403,
				body: {
					...forbidden,
					message: `pods is forbidden: User "system:anonymous" cannot list resource "pods" in API group "" in the namespace "${world.namespace}"`,
					details: { kind: "pods" },
				},
			});
		},
	},
	{
		name: "a token that is none is a 401",
		async run(world) {
			const answer = await world.call({ method: "GET", path: world.path("pods"), as: { token: "x.y.z" } });
			expect(answer).toMatchObject({
				code: 401,
				body: { kind: "Status", status: "Failure", reason: "Unauthorized", message: "Unauthorized", code: 401 },
			});
		},
	},
	{
		name: "a missing right is a 403 that names user, verb, resource and place",
		async run(world) {
			const path = world.path("leases", "a", "coordination.k8s.io/v1");
			expect(await world.call({ method: "DELETE", path, as: "operator" })).toMatchObject({
				code: 403,
				body: {
					...forbidden,
					message: `leases.coordination.k8s.io "a" is forbidden: User "alice" cannot delete resource "leases" in API group "coordination.k8s.io" in the namespace "${world.namespace}"`,
					details: { name: "a", group: "coordination.k8s.io", kind: "leases" },
				},
			});
			expect(await world.call({ method: "GET", path: "/api/v1/namespaces", as: "operator" })).toMatchObject({
				code: 403,
				body: {
					message:
						'namespaces is forbidden: User "alice" cannot list resource "namespaces" in API group "" at the cluster scope',
				},
			});
		},
	},
	{
		name: "the operator may list pods everywhere, read nodes and evict",
		async run(world) {
			await world.createPod({ name: "by-operator" });
			const asked = [
				{ method: "GET", path: "/api/v1/pods?limit=1" },
				{ method: "GET", path: "/api/v1/nodes" },
				{ method: "GET", path: "/apis/x-pdb.form3.tech/v1alpha1/xpoddisruptionbudgets" },
			];
			for (const call of asked) expect((await world.call({ ...call, as: "operator" })).code).toBe(200);
			const answer = await world.call({
				method: "POST",
				path: `${world.path("pods", "by-operator")}/eviction`,
				body: { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "by-operator" } },
				as: "operator",
			});
			expect(answer.code).toBe(201);
		},
	},
	{
		name: "a right that is given by name is given for that name alone",
		async run(world) {
			const path = "/api/v1/namespaces/xpdb-system/configmaps";
			expect((await world.call({ method: "GET", path: `${path}/xpdb-ca`, as: "operator" })).code).toBe(200);
			expect((await world.call({ method: "GET", path: `${path}/other`, as: "operator" })).code).toBe(403);
			expect((await world.call({ method: "GET", path, as: "operator" })).code).toBe(403);
		},
	},
	{
		name: "who may not even know does not learn that there is nothing",
		async run(world) {
			const path = world.path("secrets", "nothing");
			expect((await world.call({ method: "GET", path, as: "operator" })).code).toBe(403);
			expect((await world.call({ method: "GET", path })).code).toBe(404);
		},
	},
	{
		name: "anyone with a name may ask for the kinds that are served",
		async run(world) {
			for (const path of ["/api", "/apis", "/api/v1", "/apis/x-pdb.form3.tech/v1alpha1", "/version"]) {
				expect((await world.call({ method: "GET", path, as: "operator" })).code, path).toBe(200);
			}
		},
	},
];

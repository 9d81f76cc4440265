import type { V1Pod } from "@kubernetes/client-node";
import { describe, expect, test } from "vitest";
import {
	AgentNamespacesError,
	findAgentNamespaces,
	findAgentPods,
	isAgentPod,
} from "../../../plugin/fleet/agent-pods.ts";
import { ApiError } from "../../../plugin/kubernetes/api-error.ts";
import { newClient, notFound } from "../../support/build-context.ts";
import { newV1Pod } from "../../support/build-v1-pod.ts";

const anchor = ["xpdb-system"];

function newAgent(
	name: string,
	{ ready = true, ...fields }: Parameters<typeof newV1Pod>[1] & { readonly ready?: boolean } = {},
): V1Pod {
	const pod = newV1Pod(name, { namespace: "xpdb-system", ...fields });
	return {
		...pod,
		status: { ...pod.status, conditions: [{ type: "Ready", status: ready ? "True" : "False" }] },
	};
}

describe("findAgentPods()", () => {
	test("ready ones first, then by name; terminating and pending ones not at all", async () => {
		const pods = [
			newAgent("c"),
			newAgent("a", { ready: false }),
			newAgent("b"),
			newAgent("going", { deletedAt: "2026-01-01T00:00:00Z" }),
			newAgent("coming", { phase: "Pending" }),
		];
		const found = await findAgentPods(newClient({ list: () => pods }), anchor);
		expect(found.map(({ name, ready }) => `${name} ${ready}`)).toEqual(["b true", "c true", "a false"]);
	});

	test("takes the port from the pod, or the shipped one", async () => {
		const ports = [
			{ name: "http", containerPort: 8080 },
			{ name: "grpc", containerPort: 9000 },
		];
		const own = { ...newAgent("b"), spec: { containers: [{ name: "agent", ports }] } };
		const found = await findAgentPods(newClient({ list: () => [newAgent("a"), own] }), anchor);
		expect(found.map(({ port }) => port)).toEqual([8443, 9000]);
	});

	test("asks in the namespaces of the agents and nowhere else, whatever the rights", async () => {
		const paths: string[] = [];
		const client = newClient({
			list(path) {
				paths.push(path);
				return [newAgent(path.includes("xpdb-system") ? "b" : "a")];
			},
		});
		const found = await findAgentPods(client, ["xpdb-system", "shop"]);
		expect(found.map(({ name }) => name)).toEqual(["a", "b"]);
		expect(paths).toEqual(["/api/v1/namespaces/xpdb-system/pods", "/api/v1/namespaces/shop/pods"]);
	});

	test("who may not list pods there is told so, and is sent nowhere else", async () => {
		const paths: string[] = [];
		const client = newClient({
			list(path) {
				paths.push(path);
				throw new ApiError("pods is forbidden", { code: 403, reason: "Forbidden" });
			},
		});
		await expect(findAgentPods(client, anchor)).rejects.toBeInstanceOf(ApiError);
		expect(paths).toEqual(["/api/v1/namespaces/xpdb-system/pods"]);
	});
});

describe("findAgentNamespaces()", () => {
	const inFleet = (data: unknown) =>
		findAgentNamespaces(
			newClient({
				get(path) {
					expect(path).toBe("/api/v1/namespaces/agents/configmaps/xpdb-fleet");
					return { data };
				},
			}),
			"agents",
		);

	test("is the anchor alone where its fleet names none, or is not there", async () => {
		expect(await inFleet({ members: "[]" })).toEqual(["agents"]);
		const none = newClient({
			get() {
				throw notFound('configmaps "xpdb-fleet" not found');
			},
		});
		expect(await findAgentNamespaces(none, "agents")).toEqual(["agents"]);
	});

	test("is the anchor and those that its fleet names, as YAML or JSON", async () => {
		expect(await inFleet({ namespaces: "- shop\n- agents\n" })).toEqual(["agents", "shop"]);
		expect(await inFleet({ namespaces: '["shop","web"]' })).toEqual(["agents", "shop", "web"]);
	});

	test("is nothing where it cannot be read", async () => {
		const forbidden = newClient({
			get() {
				throw new ApiError("configmaps is forbidden", { code: 403, reason: "Forbidden" });
			},
		});
		await expect(findAgentNamespaces(forbidden, "agents")).rejects.toBeInstanceOf(ApiError);
	});

	const rows = [
		{ namespaces: "shop", says: "namespaces is not a list" },
		{ namespaces: "- ../../secrets", says: 'namespaces[0] is not the name of a namespace: "../../secrets"' },
		{ namespaces: "- shop\n- 5", says: "namespaces[1] is not the name of a namespace: 5" },
		{ namespaces: "- shop\n- shop", says: 'namespaces names "shop" twice' },
		{ namespaces: "- [", says: "namespaces is neither YAML nor JSON" },
		{
			namespaces: JSON.stringify(Array.from({ length: 101 }, (_, index) => `n${index}`)),
			says: "namespaces has 101 entries, more than 100",
		},
		{ namespaces: 5, says: "namespaces is not a list" },
	];
	for (const { namespaces, says } of rows) {
		test(`refuses ${JSON.stringify(namespaces).slice(0, 40)}`, async () => {
			const error: unknown = await inFleet({ namespaces }).catch((reason: unknown) => reason);
			expect(error).toBeInstanceOf(AgentNamespacesError);
			expect(String(error)).toContain(`cannot use ConfigMap agents/xpdb-fleet: ${says}`);
		});
	}
});

describe("isAgentPod()", () => {
	const labels = { "app.kubernetes.io/name": "xpdb-agent" };
	test("is by label and namespace", () => {
		expect(isAgentPod({ namespace: "xpdb-system", labels }, anchor)).toBe(true);
		expect(isAgentPod({ namespace: "tenant", labels }, anchor)).toBe(false);
		expect(isAgentPod({ namespace: "xpdb-system", labels: {} }, anchor)).toBe(false);
	});
});

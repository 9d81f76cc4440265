import type { V1Container, V1Pod } from "@kubernetes/client-node";
import { describe, expect, test } from "vitest";
import { findAgentPods } from "../../plugin/agent-pods.ts";
import { ApiError } from "../../plugin/api-error.ts";
import { newClient, newPod } from "./build-plugin-pod.ts";

function newAgent(
	name: string,
	{ ready = true, ...fields }: Parameters<typeof newPod>[1] & { readonly ready?: boolean } = {},
): V1Pod {
	const pod = newPod(name, { namespace: "xpdb-system", ...fields });
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
		const found = await findAgentPods(newClient({ list: () => pods }));
		expect(found.map(({ name, ready }) => `${name} ${ready}`)).toEqual(["b true", "c true", "a false"]);
	});

	test("takes the port from the pod, or the shipped one", async () => {
		const ports = [
			{ name: "http", containerPort: 8080 },
			{ name: "grpc", containerPort: 9000 },
		];
		const own = { ...newAgent("b"), spec: { containers: [{ name: "agent", ports }] } };
		const found = await findAgentPods(newClient({ list: () => [newAgent("a"), own] }));
		expect(found.map(({ port }) => port)).toEqual([8443, 9000]);
	});

	const rows: readonly {
		readonly name: string;
		readonly container: Partial<V1Container>;
		readonly expected: string;
	}[] = [
		{ name: "nothing", container: {}, expected: "xpdb-system" },
		{ name: "the flag", container: { args: ["--lease-namespace=leases"] }, expected: "leases" },
		{
			name: "the flag in two words",
			container: { command: ["agent", "--lease-namespace", "leases"] },
			expected: "leases",
		},
		{
			name: "the variable",
			container: { env: [{ name: "XPDB_LEASE_NAMESPACE", value: "leases" }] },
			expected: "leases",
		},
	];
	for (const { name, container, expected } of rows) {
		test(`knows the lease namespace by ${name}`, async () => {
			const pod = { ...newAgent("a"), spec: { containers: [{ name: "agent", ...container }] } };
			const found = await findAgentPods(newClient({ list: () => [pod] }));
			expect(found.map(({ leaseNamespace }) => leaseNamespace)).toEqual([expected]);
		});
	}

	test("who may not list all pods is asked in the default namespace", async () => {
		const paths: string[] = [];
		const client = newClient({
			list(path) {
				paths.push(path);
				if (path === "/api/v1/pods") throw new ApiError("pods is forbidden", { code: 403, reason: "Forbidden" });
				return [newAgent("a")];
			},
		});
		expect(await findAgentPods(client)).toHaveLength(1);
		expect(paths).toEqual(["/api/v1/pods", "/api/v1/namespaces/xpdb-system/pods"]);
	});
});

import { afterEach, describe, expect, test } from "vitest";
import { createWorkloadCalls, listWorkloadVersions } from "../../../agent/cluster-api/workload-calls.ts";
import { workloadKinds } from "../../../agent/cluster-api/workload-record.ts";
import { createApiAsker } from "../../../agent/kubernetes/api-asker.ts";
import { createApiConnection } from "../../../agent/kubernetes/api-connection.ts";
import { MissingRightError } from "../../../agent/kubernetes/api-refusal.ts";
import { type ScriptedRequest, startScriptedServer } from "../../support/scripted-api-server.ts";
import { createSkippingClock } from "../../support/skipping-clock.ts";

const open: { close(): unknown }[] = [];
afterEach(async () => {
	for (const one of open.splice(0).toReversed()) await one.close();
});

async function setUp(handle: (request: ScriptedRequest) => void) {
	const server = await startScriptedServer(handle);
	open.push(server);
	const connection = createApiConnection({ access: server.access, clock: createSkippingClock(), cluster: "eu-1" });
	open.push(connection);
	const asker = createApiAsker(connection);
	const asked = () => server.requests.map(({ method, path }) => `${method} ${path}`);
	return { api: createWorkloadCalls(asker), asker, server, asked };
}

const answering =
	(status: number, body: unknown) =>
	(request: ScriptedRequest): void =>
		request.json(status, body);

describe("ClusterApi.listWorkloads()", () => {
	const replicaSet = (name: string) => ({
		metadata: { namespace: "db", name, uid: `uid-of-${name}`, resourceVersion: "3" },
		spec: { replicas: 1, template: { metadata: { labels: { app: name } } } },
	});
	const list = (...items: readonly object[]) => ({ metadata: { resourceVersion: "9" }, items });

	test("lists the five kinds of the namespace, and nothing of the cluster", async () => {
		const { api, asked } = await setUp((request) =>
			request.json(200, request.path.endsWith("/replicasets") ? list(replicaSet("web")) : list()),
		);
		expect(await api.listWorkloads("db")).toMatchObject([{ kind: "ReplicaSet", name: "web", labels: { app: "web" } }]);
		expect(asked().toSorted()).toEqual([
			"GET /api/v1/namespaces/db/replicationcontrollers",
			...["daemonsets", "deployments", "replicasets", "statefulsets"].map(
				(plural) => `GET /apis/apps/v1/namespaces/db/${plural}`,
			),
		]);
	});

	test("rejects an object that cannot be read", async () => {
		const { api } = await setUp(answering(200, list({ metadata: { name: "web" } })));
		await expect(api.listWorkloads("db")).rejects.toThrow(
			/cannot list .* in cluster "eu-1": the answer cannot be understood/,
		);
	});

	test("says which right is missing", async () => {
		const { api } = await setUp((request) =>
			request.path.endsWith("/deployments") ? request.json(403, { message: "forbidden" }) : request.json(200, list()),
		);
		const listed = api.listWorkloads("db");
		await expect(listed).rejects.toBeInstanceOf(MissingRightError);
		await expect(listed).rejects.toThrow(/no permission to list deployments\.apps in namespace "db"/);
	});
});

describe("listWorkloadVersions()", () => {
	const [deployments] = workloadKinds;
	if (!deployments) throw new Error("there are five kinds");

	test("asks for metadata alone, in one namespace, and reads an empty list", async () => {
		const { asker, server } = await setUp(answering(200, { metadata: { resourceVersion: "9" }, items: null }));
		expect(await listWorkloadVersions(asker, deployments, "db")).toEqual({ versions: new Map(), resourceVersion: "9" });
		expect(server.requests[0]?.path).toBe("/apis/apps/v1/namespaces/db/deployments");
		expect(server.requests[0]?.headers.accept).toContain("PartialObjectMetadataList");
	});

	test("has each by namespace and name", async () => {
		const items = [{ metadata: { namespace: "db", name: "web", uid: "u", resourceVersion: "3" } }];
		const { asker } = await setUp(answering(200, { metadata: { resourceVersion: "9" }, items }));
		const { versions } = await listWorkloadVersions(asker, deployments, "db");
		expect(versions).toEqual(new Map([["db/web", "3"]]));
	});
});

test("a list of whole objects without items is no list", async () => {
	const { api } = await setUp(answering(200, { metadata: { resourceVersion: "9" }, items: null }));
	await expect(api.listWorkloads("db")).rejects.toThrow(/cannot list .* the answer cannot be understood/);
});

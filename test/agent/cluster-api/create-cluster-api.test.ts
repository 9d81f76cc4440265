import { afterEach, describe, expect, test } from "vitest";
import type { ClusterApi } from "../../../agent/cluster-api/cluster-api.ts";
import { parseLabelSelector } from "../../../disruption/budget/selector.ts";
import { AgentUnavailableError, GarbledLeaseError } from "../../../disruption/errors.ts";
import type { ScriptedRequest } from "../../support/scripted-api-server.ts";
import { patiently } from "../../support/skipping-clock.ts";
import { answering, closeApis, connectApi as setUp } from "./scripted-cluster-api.ts";

afterEach(closeApis);

const pod = { namespace: "db", name: "web-0", uid: "uid-0" };
const podObject = (more: object = {}) => ({
	metadata: { ...pod, resourceVersion: "7", ...more },
	spec: {},
	status: {},
});
const leaseObject = (more: object = {}) => ({
	metadata: { name: "a", uid: "u", resourceVersion: "5" },
	spec: {},
	...more,
});
const notFound = (kind: string, name: string) => ({
	kind: "Status",
	code: 404,
	message: "not found",
	details: { kind, name },
});
const lease = { name: "a", uid: "u", resourceVersion: "4", labels: {}, annotations: {}, spec: {} };

const everyPod = { requirements: [] };

describe("ClusterApi errors", () => {
	const calls: Readonly<Record<string, (api: ClusterApi) => Promise<unknown>>> = {
		getLease: (api) => api.getLease("a"),
		createLease: (api) => api.createLease(lease),
		updateLease: (api) => api.updateLease(lease),
		deleteLease: (api) => api.deleteLease(lease),
		listLeases: (api) => api.listLeases({ budgetNamespace: "db", notOlderThan: "4" }),
		getBudget: (api) => api.getBudget({ namespace: "db", name: "web" }),
		listBudgets: (api) => api.listBudgets(),
		getFleet: (api) => api.getFleet(),
		getPod: (api) => api.getPod(pod),
		listSelectedPods: (api) => api.listSelectedPods("db", everyPod),
		touchPod: (api) => api.touchPod(pod, "one"),
		markPendingDisruption: (api) => api.markPendingDisruption(pod),
		listWorkloads: (api) => api.listWorkloads("db"),
		getScale: (api) => api.getScale({ apiVersion: "apps/v1", kind: "ReplicaSet", name: "web" }, "db"),
		"getScale of another kind": (api) => api.getScale({ apiVersion: "a.b/v1", kind: "C", name: "web" }, "db"),
	};
	const answers = [
		{
			name: "401",
			handle: answering(401, { message: "Unauthorized" }),
			says: /does not accept the agent's token or certificate \(401: Unauthorized\)/,
		},
		{ name: "403", handle: answering(403, { message: "no" }), says: /no permission to [a-z]+ .*Role.*\(403: no\)/ },
		{ name: "429", handle: answering(429, { message: "slow down" }), says: /429, retry later \(429: slow down\)/ },
		{ name: "500", handle: answering(500, { message: "etcd" }), says: /\(500: etcd\)/ },
		{
			name: "503 as text",
			handle: (request: ScriptedRequest) => request.text(503, "no upstream"),
			says: /\(503: no upstream\)/,
		},
		{
			name: "a path that is not served",
			handle: (request: ScriptedRequest) => request.text(404, "404 page not found"),
			says: /does not serve/,
		},
		{ name: "no answer", handle: () => undefined, says: /did not answer within 5 s/ },
		{
			name: "a success that is no object",
			handle: answering(200, "fine"),
			says: /cannot be understood|cannot read Lease|has no data.members|left out condition/,
		},
	];
	// These calls do not read the object in the answer.
	const contentIsNotRead = new Set(["deleteLease", "markPendingDisruption"]);
	for (const [call, ask] of Object.entries(calls)) {
		for (const { name, handle, says } of answers) {
			if (name === "a success that is no object" && contentIsNotRead.has(call)) continue;
			// Another group's service may be down while the API server is up.
			if (call === "getScale of another kind" && name.startsWith("50")) continue;
			test(`${call}() rejects on ${name}, and says why`, async () => {
				const { api, server, connectionClock } = await setUp(handle);
				const asked = ask(api).then(
					() => undefined,
					(reason: unknown) => reason,
				);
				await expect.poll(() => server.requests.length, patiently).toBeGreaterThan(1);
				if (name === "no answer") connectionClock.skip(5_000);
				const error: unknown = await asked;
				expect(error instanceof AgentUnavailableError || error instanceof GarbledLeaseError).toBe(true);
				expect(String(error)).toMatch(says);
			});
		}
	}

	test("names the missing right", async () => {
		const { api } = await setUp(answering(403, { message: "forbidden" }));
		await expect(api.touchPod(pod, "one")).rejects.toThrow(
			'cannot touch pod "db/web-0" in cluster "eu-1": the agent has no permission to patch pods/status in namespace "db": grant it to its ServiceAccount with a Role or ClusterRole (403: forbidden)',
		);
	});
});

describe("ClusterApi Leases", () => {
	for (const [name, body] of [
		["no uid", leaseObject({ metadata: { name: "a", resourceVersion: "5" } })],
		["no resourceVersion", leaseObject({ metadata: { name: "a", uid: "u" } })],
		["a holder that is no text", leaseObject({ spec: { holderIdentity: 5 } })],
		["transitions that are no number", leaseObject({ spec: { leaseTransitions: "5" } })],
		["an annotation that is no text", leaseObject({ metadata: { ...lease, annotations: { a: 1 } } })],
		["a spec that is a list", leaseObject({ spec: [] })],
	] as const) {
		test(`a Lease with ${name} is garbled`, async () => {
			const { api } = await setUp(answering(200, body));
			await expect(api.getLease("a")).rejects.toThrow(GarbledLeaseError);
		});
	}

	test("a Lease without annotations, labels and spec is empty", async () => {
		const { api } = await setUp(answering(200, { metadata: { name: "a", uid: "u", resourceVersion: "5" } }));
		expect(await api.getLease("a")).toEqual({ ...lease, resourceVersion: "5" });
	});

	test("listLeases() names the version that it must not be older than", async () => {
		const { api, server } = await setUp(answering(200, { metadata: { resourceVersion: "9" }, items: [] }));
		expect(await api.listLeases({ budgetNamespace: "db", notOlderThan: "8" })).toEqual([]);
		expect(Object.fromEntries(server.requests.at(-1)?.query ?? [])).toEqual({
			labelSelector: "xpdb.form3.tech/budget-namespace=db",
			resourceVersion: "8",
			resourceVersionMatch: "NotOlderThan",
		});
	});

	test("a list without items is no list: its Leases may be there", async () => {
		for (const items of [undefined, null, {}]) {
			const { api } = await setUp(answering(200, { metadata: { resourceVersion: "9" }, items }));
			const listed = api.listLeases({ budgetNamespace: "db", notOlderThan: "8" });
			await expect(listed).rejects.toThrow(/list Leases.*eu-1.*it has no metadata or no items/);
		}
	});

	test("a Lease that cannot be read is named, with its cluster", async () => {
		const { api } = await setUp(
			answering(200, { metadata: { name: "a", uid: "u", resourceVersion: "new" }, spec: {} }),
		);
		await expect(api.getLease("a")).rejects.toThrow(
			'cannot read Lease "a" in cluster "eu-1": cannot read object "a": its resourceVersion is "new"',
		);
	});

	test("a write under a version that is older than what was seen tells that the server went back", async () => {
		const { api, connection } = await setUp((request) =>
			request.method === "GET"
				? request.json(200, { metadata: { resourceVersion: "900" }, items: [] })
				: request.json(200, leaseObject({ metadata: { ...lease, resourceVersion: "50" } })),
		);
		const wentBack: string[] = [];
		connection.versions.onWentBack((resource) => void wentBack.push(resource));
		await api.listLeases({ budgetNamespace: "db", notOlderThan: "" });
		await api.updateLease(lease);
		expect(wentBack).toEqual(["leases"]);
	});

	test("a touch under a version that is older than what was seen tells that the server went back", async () => {
		const { api, connection } = await setUp((request) => {
			if (request.method === "GET") return request.json(200, { metadata: { resourceVersion: "900" }, items: [] });
			const { status } = request.body as { status: object };
			return request.json(200, { ...podObject({ resourceVersion: "50" }), status });
		});
		const wentBack: string[] = [];
		connection.versions.onWentBack((resource) => void wentBack.push(resource));
		await api.listSelectedPods("db", everyPod);
		await api.touchPod(pod, "one");
		expect(wentBack).toEqual(["pods"]);
	});

	test("a write that changed nothing tells nothing", async () => {
		const { api, connection } = await setUp((request) =>
			request.method === "GET"
				? request.json(200, { metadata: { resourceVersion: "900" }, items: [] })
				: request.json(200, leaseObject({ metadata: lease })),
		);
		const wentBack: string[] = [];
		connection.versions.onWentBack((resource) => void wentBack.push(resource));
		await api.listLeases({ budgetNamespace: "db", notOlderThan: "" });
		await api.updateLease(lease);
		expect(wentBack).toEqual([]);
	});
});

describe("ClusterApi pods", () => {
	test("listSelectedPods() reads all pages of one list", async () => {
		const { api } = await setUp((request) => {
			const last = request.query.get("continue") === "next";
			const name = last ? "b" : "a";
			request.json(200, {
				metadata: { resourceVersion: "9", ...(last ? {} : { continue: "next" }) },
				items: [podObject({ name, uid: name })],
			});
		});
		const { pods, resourceVersion } = await api.listSelectedPods("db", everyPod);
		expect(pods.map(({ name }) => name)).toEqual(["a", "b"]);
		expect(resourceVersion).toBe("9");
	});

	test("listSelectedPods() begins again, once, where a page is too old", async () => {
		const { api, asked } = await setUp((request) => {
			if (request.query.get("continue") !== null) request.json(410, { message: "too old" });
			else request.json(200, { metadata: { resourceVersion: "9", continue: "next" }, items: [podObject()] });
		});
		await expect(api.listSelectedPods("db", everyPod)).rejects.toThrow(/410: too old/);
		expect(asked()).toHaveLength(4);
	});

	test("listSelectedPods() rejects a list with a pod that cannot be read", async () => {
		const { api } = await setUp(
			answering(200, { metadata: { resourceVersion: "9" }, items: [podObject({ uid: "" })] }),
		);
		await expect(api.listSelectedPods("db", everyPod)).rejects.toThrow(AgentUnavailableError);
	});

	test("listSelectedPods() asks for a selector and keeps only what it selects", async () => {
		const { api, server } = await setUp(
			answering(200, {
				metadata: { resourceVersion: "9" },
				items: [podObject({ name: "a", uid: "a" }), podObject({ name: "b", uid: "b", labels: { app: "web" } })],
			}),
		);
		const selector = parseLabelSelector({ matchLabels: { app: "web" } }, "selector");
		const { pods } = await api.listSelectedPods("db", selector);
		expect(pods.map(({ name }) => name)).toEqual(["b"]);
		expect(server.requests.at(-1)?.path).toBe("/api/v1/namespaces/db/pods");
		expect(server.requests.at(-1)?.query.get("labelSelector")).toBe("app=web");
		const values = Array.from({ length: 1_000 }, (_, index) => `a-long-value-${index}`);
		await api.listSelectedPods(
			"db",
			parseLabelSelector({ matchExpressions: [{ key: "app", operator: "In", values }] }, "selector"),
		);
		expect(server.requests.at(-1)?.query.get("labelSelector")).toBeNull();
	});

	test("touchPod() names uid and condition, and reads the new version", async () => {
		const { api, server } = await setUp((request) => {
			const { status } = request.body as { status: object };
			request.json(200, { ...podObject({ resourceVersion: "8" }), status });
		});
		expect(await api.touchPod(pod, "one")).toEqual({ kind: "touched", resourceVersion: "8" });
		const request = server.requests.at(-1);
		expect(request?.path).toBe("/api/v1/namespaces/db/pods/web-0/status");
		expect(request?.headers["content-type"]).toBe("application/strategic-merge-patch+json");
		expect(request?.body).toMatchObject({
			metadata: { uid: "uid-0" },
			status: { conditions: [{ type: "xpdb.form3.tech/ReservationCancelled", status: "True", message: "one" }] },
		});
	});

	test("touchPod() rejects where the condition did not stay", async () => {
		const { api } = await setUp(answering(200, podObject()));
		await expect(api.touchPod(pod, "one")).rejects.toThrow(/left out condition/);
	});

	for (const status of [409, 422]) {
		test(`touchPod() reads the pod after a ${status}: another uid is gone`, async () => {
			const { api } = await setUp((request) =>
				request.method === "PATCH"
					? request.json(status, { message: "field is immutable" })
					: request.json(200, podObject({ uid: "another" })),
			);
			expect(await api.touchPod(pod, "one")).toEqual({ kind: "gone" });
		});

		test(`touchPod() rejects a ${status} about the very pod`, async () => {
			const { api } = await setUp((request) =>
				request.method === "PATCH" ? request.json(status, { message: "invalid" }) : request.json(200, podObject()),
			);
			await expect(api.touchPod(pod, "one")).rejects.toThrow(AgentUnavailableError);
		});
	}

	test("touchPod() does not take a missing path for a missing pod", async () => {
		const { api } = await setUp(answering(404, { message: "the server could not find the requested resource" }));
		await expect(api.touchPod(pod, "one")).rejects.toThrow(AgentUnavailableError);
	});

	test("getPod() does not take a missing namespace's status for a missing pod of that name", async () => {
		const { api } = await setUp(answering(404, notFound("namespaces", "web-0")));
		await expect(api.getPod(pod)).rejects.toThrow(AgentUnavailableError);
	});
});

test("ClusterApi.getBudget() takes no other budget for the one that it asked for", async () => {
	const metadata = { namespace: "db", name: "other", uid: "u", resourceVersion: "7" };
	const { api } = await setUp(answering(200, { metadata, spec: {} }));
	await expect(api.getBudget({ namespace: "db", name: "db" })).rejects.toThrow(/it is another budget/);
});

describe("ClusterApi.getFleet()", () => {
	for (const [name, body] of [
		["no data", { metadata: {} }],
		["a list that is none", { data: { members: "a: b" } }],
		["an empty list", { data: { members: "[]" } }],
	] as const) {
		test(`rejects a ConfigMap with ${name}, and names it`, async () => {
			const { api } = await setUp(answering(200, body));
			await expect(api.getFleet()).rejects.toThrow(/ConfigMap "xpdb-system\/xpdb-fleet" in cluster "eu-1": /);
		});
	}
});

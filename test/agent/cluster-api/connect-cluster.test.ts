import { getEventListeners } from "node:events";
import { afterEach, describe, expect, test } from "vitest";
import { type ConnectClusterOptions, connectCluster } from "../../../agent/cluster-api/connect-cluster.ts";
import { type ScriptedRequest, type ScriptedServer, startScriptedServer } from "../../support/scripted-api-server.ts";
import { createFastClock } from "./fast-clock.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
	for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

const id = "0f0d2f60-0000-4000-8000-000000000001";
const namespacePath = "/api/v1/namespaces/kube-system";
const fleetPath = "/api/v1/namespaces/xpdb-system/configmaps/xpdb-fleet";

function answerWith(members: unknown): (request: ScriptedRequest) => void {
	return (request) => {
		if (request.path === namespacePath) {
			request.json(200, { metadata: { name: "kube-system", uid: id, resourceVersion: "1" } });
		} else if (request.path === fleetPath && members !== undefined) {
			const metadata = { name: "xpdb-fleet", uid: "u", resourceVersion: "7" };
			request.json(200, { metadata, data: { members: JSON.stringify(members) } });
		} else {
			request.json(404, { kind: "Status", reason: "NotFound", details: { name: "xpdb-fleet" } });
		}
	};
}

async function find(handle: (request: ScriptedRequest) => void, change: Partial<ConnectClusterOptions> = {}) {
	const server: ScriptedServer = await startScriptedServer(handle);
	cleanups.push(() => server.close());
	const problems: string[] = [];
	const connected = await connectCluster({
		access: server.access,
		config: {
			leaseNamespace: "xpdb-system",
			agentNamespace: "xpdb-system",
			fleetConfigMap: "xpdb-fleet",
		},
		// Requests still get 1 s of real time. With 10 ms, a busy machine did not answer in time.
		clock: createFastClock(5),
		signal: new AbortController().signal,
		onTrouble: ({ message }) => problems.push(message),
		...change,
	});
	cleanups.push(() => connected.connection.close());
	return { connected, problems };
}

describe("connectCluster()", () => {
	test("calls the cluster what the fleet calls it", async () => {
		const { connected } = await find(answerWith([{ id, name: "eu-1", address: "10.0.0.1:8444" }]));
		expect([connected.clusterName, connected.api.clusterId, connected.connection.cluster]).toEqual([
			"eu-1",
			id,
			"eu-1",
		]);
	});

	test("calls it by its id where the fleet does not know it, or does not exist yet", async () => {
		expect((await find(answerWith([{ id: "b", name: "eu-2", address: "10.0.0.2:8444" }]))).connected.clusterName).toBe(
			id,
		);
		const { connected, problems } = await find(answerWith(undefined));
		expect(connected.clusterName).toBe(id);
		expect(problems).toEqual([expect.stringContaining('read the fleet from ConfigMap "xpdb-system/xpdb-fleet"')]);
	});

	test("takes the fleet from the anchor alone, wherever the Leases stand", async () => {
		const paths: string[] = [];
		const answer = answerWith([{ id, name: "eu-1", address: "10.0.0.1:8444" }]);
		const config = { leaseNamespace: "leases", agentNamespace: "xpdb-system", fleetConfigMap: "xpdb-fleet" };
		await find(
			(request) => {
				paths.push(request.path);
				answer(request);
			},
			{ config },
		);
		expect(paths.filter((path) => path.endsWith("xpdb-fleet"))).toEqual([fleetPath]);
	});

	test("waits for an API server that is not ready", async () => {
		let calls = 0;
		const ready = answerWith([{ id, name: "eu-1", address: "10.0.0.1:8444" }]);
		const { signal } = new AbortController();
		const { connected, problems } = await find(
			(request) => (calls++ < 2 ? request.text(503, "later") : ready(request)),
			{ signal },
		);
		expect(connected.clusterName).toBe("eu-1");
		expect(problems).toHaveLength(2);
		expect(getEventListeners(signal, "abort")).toEqual([]);
	});

	test("stops waiting when the agent stops", async () => {
		const stopping = new AbortController();
		const reason = new Error("The agent is shutting down");
		const found = find((request) => request.text(503, "later"), {
			signal: stopping.signal,
			onTrouble: () => stopping.abort(reason),
		});
		await expect(found).rejects.toBe(reason);
	});
});

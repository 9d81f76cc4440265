import { describe, expect, test } from "vitest";
import { type ApplyFleet, applyFleet } from "../../../plugin/install/apply-fleet.ts";
import { changeLines } from "../../../plugin/install/change-lines.ts";
import type { ClusterObject } from "../../../plugin/install/cluster-object.ts";
import type { ClusterChanges, ObjectChange } from "../../../plugin/install/find-changes.ts";
import { ApiError, ConnectionError } from "../../../plugin/kubernetes/api-error.ts";
import { UsageError } from "../../../plugin/terminal/errors.ts";
import { newClient, newContext } from "../../support/build-context.ts";
import { newFoundCluster } from "../../support/build-found-cluster.ts";
import { collectStreams } from "../../support/collected-streams.ts";

const object = (apiVersion: string, kind: string, name: string): ClusterObject => ({
	apiVersion,
	kind,
	metadata: { name, namespace: "xpdb-system" },
});
const account = object("v1", "ServiceAccount", "xpdb-agent");
const list = object("v1", "ConfigMap", "xpdb-fleet");
const agents = object("apps/v1", "Deployment", "xpdb-agent");
const ready = {
	metadata: { generation: 1 },
	spec: { replicas: 2 },
	status: { observedGeneration: 1, replicas: 2, updatedReplicas: 2, availableReplicas: 2 },
};

function clustersOf(
	names: readonly string[],
	fail: (name: string, path: string) => Error | undefined = () => undefined,
) {
	const asked: string[] = [];
	const clusterSays = (text: string): object => {
		asked.push(text);
		return {};
	};
	const fleet = names.map((name): ClusterChanges => {
		const client = newClient({
			get: () => {
				asked.push(`${name} ready?`);
				return ready;
			},
			delete: () => clusterSays(`${name} Service deleted`),
			apply: (path, body) => {
				const { kind } = body as ClusterObject;
				const error = fail(name, path);
				if (error) throw error;
				asked.push(`${name} ${kind}`);
				return body;
			},
		});
		const context = newContext(name, client);
		const found = newFoundCluster(context);
		const changes = [account, list, agents].map((each): ObjectChange => ({ kind: "created", object: each }));
		return {
			cluster: { found, objects: [account, list, agents], removed: [], exposure: undefined, settings: {}, change: {} },
			changes,
		};
	});
	return { fleet, asked };
}

async function apply(
	clusters: ReturnType<typeof clustersOf>,
	joining: readonly string[],
	{ signal = new AbortController().signal, ...more }: Partial<ApplyFleet> = {},
) {
	const streams = collectStreams();
	const { stdout, stderr } = streams;
	const ids = new Set(joining.map((name) => `id-${name}`));
	const result = await applyFleet({
		fleet: clusters.fleet,
		joining: ids,
		force: false,
		timeoutMs: 0,
		signal,
		stdout,
		stderr,
		...more,
	});
	return { result, streams };
}

describe("applyFleet()", () => {
	test("lets newcomers answer before the others list them, and replaces agents in one cluster after the other", async () => {
		const clusters = clustersOf(["a", "b", "new"]);
		const { result, streams } = await apply(clusters, ["new"]);
		expect(result).toMatchObject({ kind: "done" });
		const [first, rest] = [clusters.asked.slice(0, 3), clusters.asked.slice(3)];
		expect(first.toSorted()).toEqual(["a ServiceAccount", "b ServiceAccount", "new ServiceAccount"]);
		expect(rest.slice(0, 3)).toEqual(["new ConfigMap", "new Deployment", "new ready?"]);
		expect(rest.slice(3, 5).toSorted()).toEqual(["a ConfigMap", "b ConfigMap"]);
		expect(rest.slice(5)).toEqual(["a Deployment", "a ready?", "b Deployment", "b ready?"]);
		expect(streams.out()).toContain("new  deployment.apps/xpdb-agent created\n");
		expect(streams.err()).toContain("b  agents are ready\n");
	});

	test("stops where a cluster refuses, says what and why, and what stands", async () => {
		const refused = new ApiError("no rights", { code: 403, reason: "Forbidden" });
		const clusters = clustersOf(["a", "b"], (name, path) =>
			name === "b" && path.includes("/configmaps/") ? refused : undefined,
		);
		const { result } = await apply(clusters, []);
		expect(result).toMatchObject({
			kind: "stopped",
			problems: [expect.stringContaining("b: cannot apply configmap/xpdb-fleet: no rights")],
			unsure: [],
		});
		expect(result.applied.map(({ context, change }) => `${context} ${change.object.kind}`).toSorted()).toEqual([
			"a ConfigMap",
			"a ServiceAccount",
			"b ServiceAccount",
		]);
	});

	const coded = (code: string): Error => Object.assign(new Error(code), { code });
	test.each([
		["is cut", new ConnectionError("https://a", coded("ECONNRESET")), true],
		["says that its time is up", new ApiError("too late", { code: 504 }), true],
		["listens no more", new ConnectionError("https://a", coded("ECONNREFUSED")), false],
		["says no", new ApiError("no", { code: 422 }), false],
	])("knows of what was asked last whether it may be there: a server that %s", async (_, error, mayBe) => {
		const { result } = await apply(
			clustersOf(["a"], () => error),
			[],
		);
		expect(result).toMatchObject({
			kind: "stopped",
			applied: [],
			unsure: mayBe ? [{ context: "a", object: account }] : [],
		});
	});

	test("waits for addresses before any list is written, writes the lists with them, and takes Services away last", async () => {
		const clusters = clustersOf(["a", "b"]);
		const late: ObjectChange = {
			kind: "changed",
			object: { ...list, data: { members: "with addresses" } },
			fields: [],
		};
		const gone: ObjectChange = { kind: "removed", object: object("v1", "Service", "xpdb-peers") };
		const fleet = clusters.fleet.map((each) => ({ ...each, changes: [...each.changes, gone] }));
		const { result, streams } = await apply({ ...clusters, fleet }, ["a"], {
			awaited: [async () => void clusters.asked.push("waited")],
			finishLists: async () => {
				clusters.asked.push("finished");
				return new Map([["b", late]]);
			},
		});
		expect(result).toMatchObject({ kind: "done" });
		expect(clusters.asked.slice(2)).toEqual([
			"waited",
			"finished",
			"a ConfigMap",
			"a Deployment",
			"a ready?",
			"b ConfigMap",
			"b Deployment",
			"b ready?",
			"a Service deleted",
			"b Service deleted",
		]);
		expect(result.applied.map(({ change }) => change)).toContain(late);
		expect(streams.out()).toContain("b  service/xpdb-peers deleted\n");
	});

	test("stops where an address does not come: no list is written, and no agent", async () => {
		const clusters = clustersOf(["a"]);
		const missing = new UsageError("a: after 300 s it has no address", "Run the same command to continue");
		const { result } = await apply(clusters, ["a"], { awaited: [() => Promise.reject(missing)] });
		expect(result).toMatchObject({
			kind: "stopped",
			problems: ["a: after 300 s it has no address (Run the same command to continue)"],
		});
		expect(clusters.asked).toEqual(["a ServiceAccount"]);
	});

	test("writes nothing more once it is interrupted", async () => {
		const clusters = clustersOf(["a"]);
		const { result } = await apply(clusters, ["a"], { signal: AbortSignal.abort() });
		expect(result).toEqual({ kind: "stopped", applied: [], unsure: [], problems: ["interrupted"] });
		expect(clusters.asked).toEqual([]);
	});
});

describe("changeLines()", () => {
	test("says of each cluster what is made, changed, left alone and in the way", () => {
		const { fleet } = clustersOf(["eu"]);
		const [{ cluster } = { cluster: undefined }] = fleet;
		if (!cluster) throw new Error("there is no cluster");
		const changes: readonly ObjectChange[] = [
			{ kind: "created", object: account },
			{ kind: "unchanged", object: list },
			{ kind: "changed", object: agents, fields: [{ path: "spec.replicas", from: 2, to: undefined }] },
			{
				kind: "changed",
				object: object("v1", "Secret", "s"),
				fields: [{ path: "data.key", from: "aaaa", to: "bbbb" }],
			},
			{ kind: "left", object: object("v1", "Thing", "x"), why: "kept by helm" },
			{ kind: "kept", object: agents, conflicts: [".spec.replicas, kept by hpa"] },
		];
		expect(changeLines([{ cluster, changes }])).toEqual([
			"eu (cluster id-eu): 1 to create, 2 to change, 1 unchanged, 1 skipped, 1 in conflict",
			"  + serviceaccount/xpdb-agent in xpdb-system",
			"  ~ deployment.apps/xpdb-agent in xpdb-system",
			"      spec.replicas: 2 -> (none)",
			"  ~ secret/s in xpdb-system",
			"      data.key: (secret) -> (secret)",
			"  = thing/x in xpdb-system: kept by helm",
			"  ! deployment.apps/xpdb-agent in xpdb-system",
			"      .spec.replicas, kept by hpa",
		]);
	});

	test("says once what is the same in all clusters", () => {
		const { fleet } = clustersOf(["eu", "us"]);
		const fields = [{ path: "spec.replicas", from: 1, to: 2 }];
		const plan = fleet.map(({ cluster }, index): ClusterChanges => {
			const own: ObjectChange = { kind: index === 0 ? "unchanged" : "created", object: list };
			return {
				cluster,
				changes: [{ kind: "created", object: account }, own, { kind: "changed", object: agents, fields }],
			};
		});
		expect(changeLines(plan)).toEqual([
			"In all of eu, us:",
			"  + serviceaccount/xpdb-agent in xpdb-system",
			"  ~ deployment.apps/xpdb-agent in xpdb-system",
			"      spec.replicas: 1 -> 2",
			"eu (cluster id-eu): 1 to create, 1 to change, 1 unchanged",
			"us (cluster id-us): 2 to create, 1 to change",
			"  + configmap/xpdb-fleet in xpdb-system",
		]);
	});
});

// Tests what a caller with a valid token and its own client can get written into Leases.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { BudgetName } from "../../../disruption/budget/budget.ts";
import type { Grant } from "../../../disruption/budget/cluster.ts";
import { AgentUnavailableError } from "../../../disruption/errors.ts";
import { leaseName } from "../../../disruption/lease/lease.ts";
import { stateAnnotation } from "../../../disruption/lease/lease-text.ts";
import { parseLabelSelector } from "../../../disruption/budget/selector.ts";
import { connectFleet } from "../../../plugin/fleet/connect-fleet.ts";
import type { Fleet } from "../../../plugin/fleet/fleet.ts";
import { openContexts } from "../../../plugin/kubernetes/open-contexts.ts";
import { describeOnFleet, sharedFleet } from "../../controlplane/shared-fleet.ts";
import { stderrSink } from "../../support/stderr-sink.ts";
import { applyBudget, createDatabase, type Database } from "../database.ts";
import { evictArgs } from "../evict-args.ts";
import { here } from "../faults/recovery-limits.ts";
import { getJson, podsPath } from "../get-json.ts";
import { plugin } from "../plugin-process.ts";

const labels = { matchLabels: { app: "db" } };
const selector = parseLabelSelector(labels, "spec.selector");
const far = "9".repeat(39);

describeOnFleet("a caller who commits what is not so", () => {
	let database: Database;
	let fleet: Fleet;
	beforeAll(async () => {
		database = await createDatabase({ replicas: 2, budget: { maxUnavailable: 1 } });
		await applyBudget(
			["c1"],
			database.namespace,
			{ selector: { matchLabels: { app: "web" } }, maxUnavailable: 1 },
			"web",
		);
		const contexts = openContexts(
			{ ...flags, kubeconfig: sharedFleet().kubeconfigPath, contexts: ["c1-operator", "c2-operator", "c3-operator"] },
			process.env,
			stderrSink,
		);
		const connection = await connectFleet(contexts);
		if (!connection.fleet) throw new Error("The contexts have agents");
		({ fleet } = connection);
	});
	afterAll(async () => {
		fleet?.close();
		await database?.[Symbol.asyncDispose]();
	});

	const member = () => {
		const found = fleet.memberOf("c1-operator");
		if (!found) throw new Error("c1 is a member");
		return found;
	};
	const named = (name: string): BudgetName => ({ namespace: database.namespace, name });
	const acquire = async (name: string) => {
		const outcome = await member().acquire(
			{ budget: named(name), selector, holder: "mallory", nonce: crypto.randomUUID(), candidates: [] },
			{ wait: true, signal: AbortSignal.timeout(20_000) },
		);
		if (outcome.kind !== "acquired") throw new Error("It waits until it is acquired");
		return outcome;
	};
	/** Repeats the acquire until the agent has seen that the Lease is free, and answers with an optimistic hold. */
	const acquireUnwritten = async (name: string) => {
		await member().release((await acquire(name)).acquisition);
		for (;;) {
			const outcome = await member().acquire(
				{
					budget: named(name),
					selector,
					holder: "mallory",
					nonce: crypto.randomUUID(),
					candidates: [],
					mayBeUnwritten: true,
				},
				{ wait: false, signal: AbortSignal.timeout(20_000) },
			);
			if (outcome.kind !== "acquired") continue;
			if (outcome.acquisition.unwritten) return { ...outcome.acquisition, unwritten: outcome.acquisition.unwritten };
			await member().release(outcome.acquisition);
		}
	};
	const commit = async (name: string, ...grants: readonly Omit<Grant, "id">[]) => {
		const { acquisition } = await acquire(name);
		try {
			return await member().commit(
				acquisition,
				grants.map((grant) => ({ id: crypto.randomUUID(), ...grant })),
			);
		} finally {
			await member().release(acquisition);
		}
	};
	const stateOf = async (name: string) => {
		const path = `/apis/coordination.k8s.io/v1/namespaces/xpdb-system/leases/${leaseName(named(name))}`;
		const { metadata } = await getJson<{ metadata: { annotations: Record<string, string> } }>("c1", path);
		const { reservations, controllers } = JSON.parse(metadata.annotations[stateAnnotation] ?? "{}") as {
			reservations: unknown[];
			controllers: unknown[];
		};
		return { reservations, controllers };
	};
	const nothing = { reservations: [], controllers: [] };
	const realPod = async (name = "db-0") => {
		interface Pods {
			items: { metadata: { name: string; uid: string; resourceVersion: string } }[];
		}
		const { items } = await getJson<Pods>("c1", podsPath(database.namespace));
		const pod = items.find(({ metadata }) => metadata.name === name)?.metadata;
		if (!pod) throw new Error(`There is no pod ${name}`);
		return { pod: { namespace: database.namespace, name, uid: pod.uid }, resourceVersion: pod.resourceVersion };
	};
	const ghost = (name: string, resourceVersion = "1"): Omit<Grant, "id"> => ({
		pod: { namespace: database.namespace, name, uid: `00000000-0000-4000-8000-0000000${name.slice(-5)}` },
		resourceVersion,
	});

	test("gets no reservation of pods that do not exist", async () => {
		const ghosts = Array.from({ length: 300 }, (_, index) => ghost(`ghost-${String(index).padStart(5, "0")}`));
		const outcome = await commit("db", ...ghosts);
		expect(outcome).toMatchObject({ kind: "stood" });
		expect(outcome.kind === "stood" && outcome.leftOut).toHaveLength(300);
		expect(await stateOf("db")).toEqual(nothing);
	});

	test("fails within some seconds with a version that no API server gives, and writes nothing", async () => {
		const pod = await realPod();
		const begun = performance.now();
		await expect(commit("db", { ...pod, resourceVersion: far })).rejects.toBeInstanceOf(AgentUnavailableError);
		expect(performance.now() - begun).toBeLessThan(here(10_000));
		expect(await stateOf("db")).toEqual(nothing);
	});

	test("makes no hold out of a Lease that it never counted from, and has one no more once somebody came in between", async () => {
		const grants = [{ id: crypto.randomUUID(), ...(await realPod()) }];
		const acquisition = await acquireUnwritten("db");
		const forged = [
			{ ...acquisition, unwritten: { ...acquisition.unwritten, lease: "another" } },
			{ ...acquisition, leaseTransitions: acquisition.leaseTransitions + 1 },
			{ ...acquisition, leaseUid: crypto.randomUUID() },
		];
		for (const each of forged) expect(await member().commit(each, grants)).toMatchObject({ kind: "lost" });
		const { acquisition: between } = await acquire("db");
		await member().release(between);
		expect(await member().commit(acquisition, grants)).toMatchObject({ kind: "lost" });
		expect(await stateOf("db")).toMatchObject({ reservations: [] });
	});

	test("gets no pod of another budget reserved, and none under a budget that does not exist", async () => {
		const pod = await realPod();
		const { uid } = pod.pod;
		expect(await commit("web", pod)).toEqual({ kind: "stood", leftOut: [{ uid, why: "NotCovered" }] });
		expect(await stateOf("web")).toEqual(nothing);
		// For a budget that no member has, no Lease is created.
		await expect(commit("nobody-has-this", pod)).rejects.toThrow(/exists in no member/);
	});

	test("has the pod's own controller remembered, and expects no more for those that it names", async () => {
		const pod = await realPod();
		const before = await acquire("db");
		await member().release(before.acquisition);
		const huge = {
			apiVersion: "apps/v1",
			kind: "StatefulSet",
			name: "huge",
			uid: "00000000-0000-4000-8000-000000000001",
		};
		const { acquisition } = await acquire("db");
		const id = crypto.randomUUID();
		expect(await member().commit(acquisition, [{ id, ...pod, controller: huge }])).toEqual({ kind: "stood" });
		const { controllers } = await stateOf("db");
		expect(controllers).toMatchObject([["apps/v1", "StatefulSet", "db", expect.any(String)]]);
		await member().cancel(named("db"), [id], { sent: false });
		const after = await acquire("db");
		await member().release(after.acquisition);
		expect(after.count.expected).toEqual(before.count.expected);
	});

	test("keeps nobody else from evicting", async () => {
		const result = await plugin(evictArgs(database, { name: "db-1", context: "c1" }));
		expect(result.code, result.stderr).toBe(0);
	});
});

const flags = {
	kubeconfig: undefined,
	context: undefined,
	contexts: [],
	agentNamespace: "xpdb-system",
	agentAccount: undefined,
	cluster: undefined,
	user: undefined,
	namespace: undefined,
	server: undefined,
	token: undefined,
	username: undefined,
	password: undefined,
	as: undefined,
	asUid: undefined,
	asGroup: [],
	asUserExtra: [],
	certificateAuthority: undefined,
	clientCertificate: undefined,
	clientKey: undefined,
	insecureSkipTlsVerify: false,
	tlsServerName: undefined,
	requestTimeoutMs: 0,
	matchServerVersion: false,
	warningsAsErrors: false,
	verbosity: 0,
} as const;

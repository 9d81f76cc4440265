import { afterEach, describe, expect, test } from "vitest";
import { createApiConnection } from "../../../agent/kubernetes/api-connection.ts";
import { systemClock } from "../../../agent/process/system-clock.ts";
import {
	budgetViewOf,
	createBudgetView,
	createLeaseView,
	ObjectStore,
	type ViewOptions,
} from "../../../agent/views/object-views.ts";
import type { MemberBudget } from "../../../disruption/budget/cluster.ts";
import { namespaceLabel } from "../../../disruption/lease/lease.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { startScriptedServer } from "../../support/scripted-api-server.ts";
import { patiently } from "../../support/skipping-clock.ts";

const budget = (namespace: string, name: string, spec: unknown = {}): MemberBudget => ({
	name: { namespace, name },
	spec,
});

function setUp() {
	const clock = createManualClock();
	const store = new ObjectStore<MemberBudget>({
		clock,
		keyOf: ({ name }) => `${name.namespace}/${name.name}`,
		namespaceOf: ({ name }) => name.namespace,
	});
	const compared = { isRecent: true, wanted: () => undefined };
	const view = budgetViewOf(store, compared);
	const changed: string[] = [];
	view.onChange((namespace) => void changed.push(namespace));
	return { clock, store, view, changed, compared };
}

const names = (budgets: Iterable<MemberBudget>) =>
	[...budgets].map(({ name }) => `${name.namespace}/${name.name}`).toSorted();

describe("BudgetView", () => {
	test("has the budgets of each namespace as they are after list and events", () => {
		const { store, view, changed } = setUp();
		store.apply({ type: "ADDED", object: budget("early", "a"), resourceVersion: "1" });
		expect(view.synced).toBe(false);
		store.replace([budget("db", "a"), budget("web", "b")], "10");
		store.apply({ type: "ADDED", object: budget("db", "c"), resourceVersion: "11" });
		store.apply({ type: "DELETED", object: budget("db", "a"), resourceVersion: "12" });
		store.apply({ type: "ADDED", object: budget("db", "late"), resourceVersion: "9" });
		expect(names(view.budgets("db"))).toEqual(["db/c"]);
		expect(names(view.budgets())).toEqual(["db/c", "web/b"]);
		expect(changed).toEqual(["db", "web", "db", "db"]);
	});

	test("tells of budgets that a list missed", () => {
		const { store, view, changed } = setUp();
		store.replace([budget("db", "a")], "10");
		store.replace([], "20");
		store.replace([budget("db", "a")], "15");
		expect(names(view.budgets())).toEqual([]);
		expect(changed).toEqual(["db", "db"]);
	});

	test("is live while its watch shows signs of life, and not before its first list", () => {
		const { clock, store, view } = setUp();
		store.signOfLife(clock.now());
		expect(view.live).toBe(false);
		store.replace([], "10");
		expect(view.live).toBe(true);
		clock.advance(5_000);
		expect(view.live).toBe(false);
		store.signOfLife(clock.now());
		expect(view.live).toBe(true);
		store.watchLost();
		expect(view.live).toBe(false);
	});

	test("is proven while it is alive and was compared in the last seconds", () => {
		const { store, view, compared, clock } = setUp();
		expect(view.proven).toBe(false);
		store.replace([], "10");
		store.signOfLife(clock.now());
		expect(view.proven).toBe(true);
		compared.isRecent = false;
		expect(view.proven).toBe(false);
		compared.isRecent = true;
		store.watchLost();
		expect(view.proven).toBe(false);
	});

	test("forgets everything when the versions went back, until an older list", () => {
		const { store, view, changed } = setUp();
		store.replace([budget("db", "a")], "100");
		store.reset();
		expect(view.synced).toBe(false);
		expect(names(view.budgets())).toEqual([]);
		store.replace([budget("web", "b")], "50");
		expect(names(view.budgets())).toEqual(["web/b"]);
		expect(changed).toEqual(["db", "db", "web"]);
	});
});

const open: { close(): unknown }[] = [];
afterEach(async () => {
	for (const one of open.splice(0).toReversed()) await one.close();
});

test("a store finds the objects of one namespace, also after they moved, went or were listed anew", () => {
	const clock = createManualClock();
	const store = new ObjectStore<{ id: string; namespace: string }>({
		clock,
		keyOf: ({ id }) => id,
		namespaceOf: ({ namespace }) => namespace,
	});
	const ids = (namespace: string) => [...store.inNamespace(namespace)].map(({ id }) => id);
	const [a, b, c] = [
		{ id: "a", namespace: "shop" },
		{ id: "b", namespace: "shop" },
		{ id: "c", namespace: "bank" },
	] as const;
	store.replace([a, b, c], "1");
	expect([ids("shop"), ids("bank"), ids("none")]).toEqual([["a", "b"], ["c"], []]);
	store.apply({ type: "MODIFIED", object: { ...b, namespace: "bank" }, resourceVersion: "2" });
	store.apply({ type: "DELETED", object: c, resourceVersion: "3" });
	expect([ids("shop"), ids("bank")]).toEqual([["a"], ["b"]]);
	store.replace([c], "4");
	expect([ids("shop"), ids("bank")]).toEqual([[], ["c"]]);
	store.reset();
	expect(ids("bank")).toEqual([]);
});

describe("views of an API server", () => {
	/** Starts a server that streams these objects at every path, and records what was watched. */
	async function connect(
		...objects: readonly object[]
	): Promise<{ options: ViewOptions; watched: () => (string | null)[] }> {
		const server = await startScriptedServer((request) => {
			const annotations = { "k8s.io/initial-events-end": "true" };
			request.open().send(...objects.map((object) => ({ type: "ADDED", object })), {
				type: "BOOKMARK",
				object: { metadata: { resourceVersion: "10", annotations } },
			});
		});
		open.push(server);
		const connection = createApiConnection({ access: server.access, clock: systemClock, cluster: "eu-1" });
		open.push(connection);
		return {
			options: { connection, clock: systemClock, random: () => 0.5, warn: () => undefined },
			watched: () => server.requests.flatMap(({ path, query }) => [path, query.get("labelSelector")]),
		};
	}
	const metadata = { name: "a", namespace: "db", uid: "u", resourceVersion: "5" };

	test("createLeaseView() watches our Leases in the lease namespace", async () => {
		const { options, watched } = await connect({ metadata, spec: { holderIdentity: "drain-7f" } });
		const opened = createLeaseView({ ...options, namespace: "xpdb-system" });
		open.push(opened);
		const { view } = opened;
		await expect.poll(() => view.live, patiently).toBe(true);
		expect(view.find("a")?.spec.holderIdentity).toBe("drain-7f");
		expect([...view.leases()]).toHaveLength(1);
		expect(watched()).toEqual([
			"/apis/coordination.k8s.io/v1/namespaces/xpdb-system/leases",
			"xpdb.form3.tech/budget-namespace",
		]);
	});

	for (const { name, broken, why } of [
		{
			name: "labels",
			broken: { metadata: { labels: { [namespaceLabel]: "web", team: 7 } } },
			why: "its labels are not all strings",
		},
		{ name: "annotations", broken: { metadata: { annotations: ["a"] } }, why: "its annotations are not an object" },
		{ name: "spec", broken: { spec: { leaseTransitions: "one" } }, why: "its spec.leaseTransitions is not a number" },
	]) {
		test(`createLeaseView() keeps a Lease with unreadable ${name} as that, and goes on with the others`, async () => {
			const { options } = await connect(
				{ ...broken, metadata: { ...metadata, ...broken.metadata, name: "broken", uid: "b" } },
				{ metadata, spec: { holderIdentity: "drain-7f" } },
			);
			const opened = createLeaseView({ ...options, namespace: "xpdb-system" });
			open.push(opened);
			const { view } = opened;
			await expect.poll(() => view.live, patiently).toBe(true);
			expect(view.find("a")).toMatchObject({ spec: { holderIdentity: "drain-7f" } });
			expect(view.find("a")?.unreadable).toBeUndefined();
			expect(view.find("broken")).toMatchObject({ uid: "b", spec: {}, unreadable: why });
		});
	}

	test("createBudgetView() watches the budgets of all namespaces", async () => {
		const { options, watched } = await connect({ metadata, spec: { maxUnavailable: 1 } });
		const opened = createBudgetView({ ...options, report: () => undefined });
		open.push(opened);
		const { view } = opened;
		await expect.poll(() => view.live, patiently).toBe(true);
		expect([...view.budgets("db")]).toEqual([{ name: { namespace: "db", name: "a" }, spec: { maxUnavailable: 1 } }]);
		expect(watched()).toEqual(["/apis/x-pdb.form3.tech/v1alpha1/xpoddisruptionbudgets", null]);
	});

	test("createBudgetView() goes on whatever somebody wrote into a budget", async () => {
		const odd = [{ spec: "all" }, { spec: { maxUnavailable: {} } }, {}, { spec: null, status: 7 }].map(
			(each, index) => ({
				...each,
				metadata: {
					...metadata,
					name: `odd-${index}`,
					uid: `o${index}`,
					annotations: { "xpdb.form3.tech/suspended": 7 },
				},
			}),
		);
		const { options } = await connect(...odd, { metadata, spec: { maxUnavailable: 1 } });
		const opened = createBudgetView({ ...options, report: () => undefined });
		open.push(opened);
		const { view } = opened;
		await expect.poll(() => view.live, patiently).toBe(true);
		expect(names(view.budgets("db"))).toEqual(["db/a", "db/odd-0", "db/odd-1", "db/odd-2", "db/odd-3"]);
	});

	test("createBudgetView() takes null for a list without any, as API servers say it of metadata", async () => {
		const server = await startScriptedServer((request) => {
			if (request.query.get("watch") !== "true") {
				request.json(200, { metadata: { resourceVersion: "10" }, items: null });
				return;
			}
			const annotations = { "k8s.io/initial-events-end": "true" };
			request.open().send({ type: "BOOKMARK", object: { metadata: { resourceVersion: "10", annotations } } });
		});
		open.push(server);
		const connection = createApiConnection({ access: server.access, clock: systemClock, cluster: "eu-1" });
		open.push(connection);
		const problems: unknown[] = [];
		const opened = createBudgetView({
			connection,
			clock: systemClock,
			random: () => 0.5,
			warn: (message) => void problems.push(message),
			report: (problem) => void problems.push(problem),
		});
		open.push(opened);
		const { view } = opened;
		await expect.poll(() => view.live, patiently).toBe(true);
		view.wanted();
		await expect.poll(() => view.proven, patiently).toBe(true);
		expect([names(view.budgets()), problems]).toEqual([[], []]);
	});

	test("createBudgetView() opens a watch anew that does not show what a list has, and says so", async () => {
		const accepted: unknown[] = [];
		const items = [metadata, { ...metadata, name: "strict", uid: "strict", resourceVersion: "12" }].map((each) => ({
			metadata: each,
		}));
		const server = await startScriptedServer((request) => {
			if (request.query.get("watch") !== "true") {
				accepted.push(request.headers.accept);
				request.json(200, { metadata: { resourceVersion: "20" }, items });
				return;
			}
			const annotations = { "k8s.io/initial-events-end": "true" };
			const [first, second] = items;
			// The first watch never shows the second budget.
			const watch = request.open();
			if (first) watch.send({ type: "ADDED", object: first });
			if (second && accepted.length > 0) watch.send({ type: "ADDED", object: second });
			watch.send({
				type: "BOOKMARK",
				object: { metadata: { resourceVersion: accepted.length > 0 ? "20" : "10", annotations } },
			});
		});
		open.push(server);
		const connection = createApiConnection({ access: server.access, clock: systemClock, cluster: "eu-1" });
		open.push(connection);
		const warnings: string[] = [];
		const opened = createBudgetView({
			connection,
			clock: systemClock,
			random: () => 0.5,
			warn: (message) => void warnings.push(message),
			report: (problem) => void warnings.push(String(problem)),
		});
		open.push(opened);
		const { view } = opened;
		await expect.poll(() => view.live, patiently).toBe(true);
		view.wanted();
		await expect.poll(() => view.proven, patiently).toBe(true);
		expect(names(view.budgets())).toEqual(["db/a", "db/strict"]);
		expect(new Set(accepted)).toEqual(new Set(["application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"]));
		expect(warnings).toEqual([
			'the watch on XPodDisruptionBudgets of cluster "eu-1" and a list differ in db/strict: opening the watch again',
		]);
	});
});

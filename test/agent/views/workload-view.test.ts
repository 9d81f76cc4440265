import { describe, expect, test } from "vitest";
import type { WorkloadRecord } from "../../../agent/cluster-api/workload-record.ts";
import { ObjectStore } from "../../../agent/views/object-views.ts";
import { WatchComparison } from "../../../agent/views/watch-comparison.ts";
import { workloadViewOf } from "../../../agent/views/workload-view.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { settle } from "../../support/simulated-agent.ts";

const workload = (name: string, resourceVersion: string, namespace = "shop"): WorkloadRecord => ({
	apiVersion: "apps/v1",
	kind: "StatefulSet",
	namespace,
	name,
	uid: `uid-of-${name}`,
	resourceVersion,
	labels: {},
	isOfDeployment: false,
});

function setUp() {
	const clock = createManualClock();
	const newStore = () => {
		const store = new ObjectStore<WorkloadRecord>({
			clock,
			keyOf: ({ namespace, name }) => `${namespace}/${name}`,
			namespaceOf: ({ namespace }) => namespace,
		});
		store.replace([workload("db", "5"), workload("db", "6", "other")], "10");
		store.signOfLife(clock.now());
		return store;
	};
	const stores = [newStore(), newStore()] as const;
	const recent = new Set(["shop"]);
	const view = workloadViewOf(stores, { isRecent: (namespace) => recent.has(namespace), wanted: () => undefined });
	return { clock, stores, recent, view };
}

describe("workloadViewOf()", () => {
	test("has those of one namespace, of all kinds", () => {
		expect([...setUp().view.workloads("shop")].map(({ namespace, name }) => `${namespace}/${name}`)).toEqual([
			"shop/db",
			"shop/db",
		]);
	});

	test("shows the scale of a workload of that kind, while its watch is alive", () => {
		const { view, stores } = setUp();
		const scale = { kind: "replicas", replicas: 3, uid: "uid-of-db" } as const;
		stores[0].apply({ type: "MODIFIED", object: { ...workload("db", "11"), scale }, resourceVersion: "11" });
		const shown = (kind: string, name = "db", apiVersion = "apps/v1") =>
			view.shownScale({ apiVersion, kind, name }, "shop");
		expect([shown("StatefulSet"), shown("StatefulSet", "db", "apps/v1beta1")]).toEqual([scale, scale]);
		expect([shown("Deployment"), shown("StatefulSet", "none"), shown("StatefulSet", "db", "example.com/v1")]).toEqual([
			undefined,
			undefined,
			undefined,
		]);
		stores[0].watchLost();
		expect(shown("StatefulSet")).toBeUndefined();
	});

	test("is proven where all watches are alive and the namespace was compared a moment ago", () => {
		const { view, stores, recent } = setUp();
		expect([view.isProven("shop"), view.isProven("other")]).toEqual([true, false]);
		stores[1].watchLost();
		expect(view.isProven("shop")).toBe(false);
		stores[1].signOfLife(0);
		recent.clear();
		expect(view.isProven("shop")).toBe(false);
	});

	test("is not proven by a watch that shows no life any more", () => {
		const { view, clock } = setUp();
		clock.advance(5_000);
		expect(view.isProven("shop")).toBe(false);
	});
});

describe("a comparison of workloads", () => {
	const rows: readonly {
		readonly name: string;
		readonly listed: Readonly<Record<string, string>>;
		/** The version that the watch shows while the list is under way. */
		readonly shown?: string;
		readonly holds: boolean;
	}[] = [
		{ name: "holds where versions are the same", listed: { "shop/db": "5" }, holds: true },
		{
			name: "holds where the watch shows that version meanwhile",
			listed: { "shop/db": "15" },
			shown: "15",
			holds: true,
		},
		{ name: "holds where the watch shows a later one meanwhile", listed: { "shop/db": "5" }, shown: "25", holds: true },
		{ name: "does not where the watch has an older one", listed: { "shop/db": "15" }, holds: false },
		{ name: "does not where it has a newer one of a history that was lost", listed: { "shop/db": "3" }, holds: false },
		{ name: "does not where the list has none", listed: {}, holds: false },
	];
	for (const { name, listed, shown, holds } of rows) {
		test(`${name}, whatever there is in other namespaces`, async () => {
			const { clock, stores } = setUp();
			const [store] = stores;
			const list = Promise.withResolvers<{ versions: ReadonlyMap<string, string>; resourceVersion: string }>();
			const comparison = new WatchComparison({
				store,
				clock,
				list: () => list.promise,
				isListed: ({ namespace }) => namespace === "shop",
				versionOf: ({ resourceVersion }) => resourceVersion,
				onDifferent: () => undefined,
				report: () => undefined,
			});
			const compared = comparison.compare();
			if (shown !== undefined) store.apply({ type: "MODIFIED", object: workload("db", shown), resourceVersion: shown });
			list.resolve({ versions: new Map(Object.entries(listed)), resourceVersion: "20" });
			await settle();
			clock.advance(500);
			await compared;
			expect(comparison.isRecent).toBe(holds);
		});
	}
});

import { describe, expect, test } from "vitest";
import type { ListedVersions } from "../../../agent/cluster-api/workload-calls.ts";
import { budgetViewOf, ObjectStore } from "../../../agent/views/object-views.ts";
import { WatchComparison } from "../../../agent/views/watch-comparison.ts";
import type { MemberBudget } from "../../../disruption/budget/cluster.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { settle } from "../../support/simulated-agent.ts";

const budget = (name: string): MemberBudget => ({ name: { namespace: "shop", name }, spec: {} });

function setUp() {
	const clock = createManualClock();
	const store = new ObjectStore<MemberBudget>({
		clock,
		keyOf: ({ name }) => `${name.namespace}/${name.name}`,
		namespaceOf: ({ name }) => name.namespace,
	});
	store.replace([budget("db")], "10");
	store.signOfLife(clock.now());
	const lists: PromiseWithResolvers<ListedVersions>[] = [];
	const different: (readonly string[])[] = [];
	const problems: unknown[] = [];
	const comparison = new WatchComparison({
		store,
		clock,
		list: () => {
			const list = Promise.withResolvers<ListedVersions>();
			lists.push(list);
			return list.promise;
		},
		onDifferent: (names) => void different.push(names),
		report: (problem) => void problems.push(problem),
	});
	const answer = (resourceVersion: string, versions: Readonly<Record<string, string>>) =>
		lists.at(-1)?.resolve({ versions: new Map(Object.entries(versions)), resourceVersion });
	/** Lets time pass while the watch answers its pings. */
	const pass = async (ms: number): Promise<void> => {
		for (let left = ms; left > 0; left -= 500) {
			clock.advance(Math.min(left, 500));
			store.signOfLife(clock.now());
			await settle();
		}
	};
	const view = budgetViewOf(store, comparison);
	return { clock, store, view, lists, different, problems, comparison, answer, pass };
}

const show = (store: ObjectStore<MemberBudget>, type: "ADDED" | "DELETED", name: string, resourceVersion: string) =>
	store.apply({ type, object: budget(name), resourceVersion });

describe("WatchComparison", () => {
	test("proves a watch that is equal to a list, for five seconds from when the list began", async () => {
		const { view, comparison, answer, pass } = setUp();
		expect(view.proven).toBe(false);
		const compared = comparison.compare();
		await pass(1_000);
		answer("20", { "shop/db": "5" });
		await compared;
		await pass(4_000);
		expect(view.proven).toBe(true);
		await pass(1);
		expect(view.proven).toBe(false);
	});

	const moments: readonly {
		readonly name: string;
		readonly listed: Readonly<Record<string, string>>;
		/** `before` runs while the list is under way, `after` when it has arrived. */
		readonly before?: (store: ObjectStore<MemberBudget>) => void;
		readonly after?: (store: ObjectStore<MemberBudget>) => void;
	}[] = [
		{
			name: "a budget that the watch shows in a moment",
			listed: { "shop/db": "5", "shop/new": "15" },
			after: (store) => show(store, "ADDED", "new", "15"),
		},
		{
			name: "one whose end the watch shows in a moment",
			listed: {},
			after: (store) => show(store, "DELETED", "db", "15"),
		},
		{
			name: "one that was made after the list",
			listed: { "shop/db": "5" },
			before: (store) => show(store, "ADDED", "new", "25"),
		},
		{
			name: "one that went after the list",
			listed: { "shop/db": "5" },
			before: (store) => show(store, "DELETED", "db", "25"),
		},
	];
	for (const { name, listed, before, after } of moments) {
		test(`is patient with ${name}`, async () => {
			const { store, view, comparison, answer, different } = setUp();
			const compared = comparison.compare();
			before?.(store);
			answer("20", listed);
			await settle();
			after?.(store);
			await compared;
			expect([view.proven, different]).toEqual([true, []]);
		});
	}

	const doubts: readonly {
		readonly name: string;
		readonly listed: Readonly<Record<string, string>>;
		readonly before?: (store: ObjectStore<MemberBudget>) => void;
		readonly names: readonly string[];
	}[] = [
		{ name: "does not show a budget", listed: { "shop/db": "5", "shop/new": "15" }, names: ["shop/new"] },
		{ name: "shows one that is gone", listed: {}, names: ["shop/db"] },
		{
			name: "shows the end of one that was made again",
			listed: { "shop/db": "15" },
			before: (store) => show(store, "DELETED", "db", "12"),
			names: ["shop/db"],
		},
		{
			name: "shows one late that is gone",
			listed: { "shop/db": "5" },
			before: (store) => show(store, "ADDED", "late", "12"),
			names: ["shop/late"],
		},
	];
	for (const { name, listed, before, names } of doubts) {
		test(`distrusts a watch that is alive and ${name}`, async () => {
			const { store, view, comparison, answer, different, pass } = setUp();
			const compared = comparison.compare();
			before?.(store);
			answer("20", listed);
			await settle();
			await pass(500);
			await compared;
			expect([view.proven, different]).toEqual([false, [names]]);
		});
	}

	test("says nothing of a watch that is dead: it is opened anew anyway", async () => {
		const { store, comparison, answer, different } = setUp();
		const compared = comparison.compare();
		store.watchLost();
		answer("20", {});
		await compared;
		expect(different).toEqual([]);
	});

	test("compares every two seconds while somebody asks, and half a minute more", async () => {
		const { comparison, lists, answer, pass } = setUp();
		comparison.wanted();
		comparison.wanted();
		for (let seconds = 0; seconds < 60; seconds += 1) {
			answer("20", { "shop/db": "5" });
			await pass(1_000);
		}
		expect(lists).toHaveLength(15);
		comparison.wanted();
		expect(lists).toHaveLength(16);
	});

	test("proves nothing by a list that failed, and goes on", async () => {
		const { comparison, lists, view, problems, pass } = setUp();
		comparison.wanted();
		lists[0]?.reject(new Error("no list"));
		await pass(2_000);
		expect([problems, view.proven, lists.length]).toEqual([[new Error("no list")], false, 2]);
	});

	test("proves nothing while a list hangs", async () => {
		const { comparison, answer, view, pass, lists } = setUp();
		comparison.wanted();
		answer("20", { "shop/db": "5" });
		await pass(5_000);
		expect([view.proven, lists.length]).toEqual([true, 2]);
		await pass(500);
		expect(view.proven).toBe(false);
	});

	test("ends when it is closed", async () => {
		const { comparison, answer, lists, pass } = setUp();
		comparison.wanted();
		answer("20", { "shop/db": "5" });
		await pass(500);
		comparison.close();
		comparison.wanted();
		await pass(10_000);
		expect(lists).toHaveLength(1);
	});
});

import { describe, expect, test } from "vitest";
import { budgetViewOf, ObjectStore } from "../../agent/object-views.ts";
import type { MemberBudget } from "../../disruption/cluster.ts";
import { createManualClock } from "./manual-clock.ts";

const budget = (namespace: string, name: string, spec: unknown = {}): MemberBudget => ({
	name: { namespace, name },
	spec,
});

function setUp() {
	const clock = createManualClock();
	const store = new ObjectStore<MemberBudget>({ clock, keyOf: ({ name }) => `${name.namespace}/${name.name}` });
	const view = budgetViewOf(store);
	const changed: string[] = [];
	view.onChange((namespace) => void changed.push(namespace));
	return { clock, store, view, changed };
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

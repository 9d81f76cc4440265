import { describe, expect, test } from "vitest";
import { added, isSettled, pod, setUp } from "./pod-store-setup.ts";

/** Creates a live view at version 10. */
function setUpLive() {
	const world = setUp();
	world.store.replace([], "10");
	world.store.signOfLife(world.clock.now());
	return world;
}

describe("PodStore.shows()", () => {
	test("needs a live watch and the version", () => {
		const { store, clock } = setUpLive();
		expect([store.shows(""), store.shows("10"), store.shows("11")]).toEqual([true, true, false]);
		clock.advance(5_000);
		expect([store.shows(""), store.shows("10")]).toEqual([false, false]);
	});

	test("is false before the first list", () => {
		const { store, clock } = setUp();
		store.signOfLife(clock.now());
		expect(store.shows("")).toBe(false);
	});
});

describe("PodStore.arrives()", () => {
	test("resolves immediately once the view has the version", async () => {
		const { store } = setUpLive();
		expect(await store.arrives("10", 1_000)).toBe(true);
	});

	test("waits for an event or a bookmark, until its time is over", async () => {
		const { store, clock } = setUpLive();
		const soon = store.arrives("11", 1_000);
		const later = store.arrives("20", 1_000);
		const never = store.arrives("9".repeat(39), 1_000);
		clock.advance(999);
		expect(await isSettled(soon)).toBe(false);
		store.apply(added(pod("a", "11")));
		expect(await soon).toBe(true);
		expect(await isSettled(later)).toBe(false);
		store.bookmark("21");
		expect(await later).toBe(true);
		expect(await isSettled(never)).toBe(false);
		clock.advance(1);
		expect(await never).toBe(false);
	});

	test("waits for no dead watch", async () => {
		const { store, clock } = setUpLive();
		clock.advance(5_000);
		expect(await store.arrives("10", 1_000)).toBe(false);
		expect(await store.arrives("11", 1_000)).toBe(false);
	});

	for (const end of ["watchLost", "reset"] as const) {
		test(`resolves with false at ${end}()`, async () => {
			const { store } = setUpLive();
			const arrives = store.arrives("11", 1_000);
			store[end]();
			expect(await arrives).toBe(false);
		});
	}

	test("is false if the watch died in the turn in which the version came", async () => {
		const { store } = setUpLive();
		const arrives = store.arrives("11", 1_000);
		store.apply(added(pod("a", "11")));
		store.watchLost();
		expect(await arrives).toBe(false);
	});
});

describe("PodStore.reset()", () => {
	test("forgets everything until the next list, which may be older", () => {
		const { store, clock } = setUp();
		store.replace([pod("a", "90")], "100");
		store.signOfLife(clock.now());
		store.reset();
		expect(store.synced).toBe(false);
		expect(store.live).toBe(false);
		expect(store.resourceVersion).toBe("");
		store.apply(added(pod("b", "101")));
		expect([...store.pods("db")]).toEqual([]);
		store.replace([pod("c", "40")], "50");
		expect([...store.pods("db")].map(({ name }) => name)).toEqual(["c"]);
	});
});

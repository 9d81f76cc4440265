import { describe, expect, test } from "vitest";
import { AgentUnavailableError } from "../../../disruption/errors.ts";
import { added, deleted, isSettled, names, pod, settle, setUp } from "./pod-store-setup.ts";

describe("PodStore.arrives()", () => {
	test("says at once that the view has come that far", async () => {
		const { store } = setUp();
		store.replace([], "10");
		expect(await store.arrives("10", 1_000)).toBe(true);
	});

	test("waits for an event, and asks for no list where none comes in time", async () => {
		const { store, clock, lists } = setUp();
		store.replace([], "10");
		const soon = store.arrives("11", 1_000);
		const never = store.arrives("9".repeat(39), 1_000);
		clock.advance(999);
		expect(await isSettled(soon)).toBe(false);
		store.apply(added(pod("a", "11")));
		expect(await soon).toBe(true);
		expect(await isSettled(never)).toBe(false);
		clock.advance(1);
		expect(await never).toBe(false);
		expect(lists).toHaveLength(0);
	});

	test("says no before the first list", async () => {
		const { store, clock } = setUp();
		const arrives = store.arrives("1", 1_000);
		clock.advance(1_000);
		expect(await arrives).toBe(false);
	});
});

describe("PodStore.reached()", () => {
	test("resolves at once where the view has come that far", async () => {
		const { store, lists } = setUp();
		store.replace([], "10");
		await store.reached("10");
		await store.reached("");
		expect(lists).toHaveLength(0);
	});

	test("waits for an event or a bookmark", async () => {
		const { store, lists } = setUp();
		store.replace([], "10");
		const byEvent = store.reached("11");
		const byBookmark = store.reached("20");
		expect(await isSettled(byEvent)).toBe(false);
		store.apply(added(pod("a", "11")));
		await byEvent;
		expect(await isSettled(byBookmark)).toBe(false);
		store.bookmark("21");
		await byBookmark;
		expect(lists).toHaveLength(0);
	});

	test("waits for the first list, also for no version at all", async () => {
		const { store } = setUp();
		const reached = store.reached("");
		expect(await isSettled(reached)).toBe(false);
		store.replace([], "10");
		await reached;
	});

	test("lists after a second, once for all who wait", async () => {
		const { store, clock, lists } = setUp();
		store.replace([pod("a", "5")], "10");
		const waiting = [store.reached("15"), store.reached("20")];
		clock.advance(999);
		await settle();
		expect(lists).toHaveLength(0);
		clock.advance(1);
		await settle();
		expect(lists).toHaveLength(1);
		lists[0]?.resolve({ pods: [], resourceVersion: "25" });
		await Promise.all(waiting);
		expect(names(store)).toEqual([]);
		expect(store.resourceVersion).toBe("25");
	});

	test("is content with a list that somebody else asked for", async () => {
		const { store, clock, lists } = setUp();
		store.replace([], "10");
		const reached = store.reached("15");
		const refreshed = store.refresh();
		await settle();
		clock.advance(1_000);
		lists[0]?.resolve({ pods: [], resourceVersion: "15" });
		await Promise.all([refreshed, reached]);
		await settle();
		expect(lists).toHaveLength(2); // The second is that of reached(), which no longer needs it.
		lists[1]?.resolve({ pods: [], resourceVersion: "16" });
	});

	test("rejects where the list fails", async () => {
		const { store, clock, lists } = setUp();
		store.replace([], "10");
		const reached = store.reached("15");
		clock.advance(1_000);
		await settle();
		lists[0]?.reject(new AgentUnavailableError("cannot list", "eu-1"));
		await expect(reached).rejects.toThrow(AgentUnavailableError);
		expect(store.synced).toBe(true);
	});

	test("says so where even the list is older than the version", async () => {
		const { store, clock, lists } = setUp();
		store.replace([], "10");
		const reached = store.reached("15");
		clock.advance(1_000);
		await settle();
		lists[0]?.resolve({ pods: [], resourceVersion: "14" });
		expect(await reached).toEqual({ kind: "below", listed: "14" });
	});

	test("judges by a list that began after the question, not by one under way", async () => {
		const { store, clock, lists } = setUp();
		store.replace([], "10");
		const earlier = store.refresh();
		await settle();
		const reached = store.reached("15");
		clock.advance(1_000);
		await settle();
		lists[0]?.resolve({ pods: [], resourceVersion: "14" });
		await earlier;
		expect(await isSettled(reached)).toBe(false);
		lists[1]?.resolve({ pods: [], resourceVersion: "15" });
		expect(await reached).toEqual({ kind: "reached" });
	});

	test("rejects with the reason of its signal", async () => {
		const { store } = setUp();
		store.replace([], "10");
		const abort = new AbortController();
		const reached = store.reached("15", abort.signal);
		abort.abort(new Error("the caller went away"));
		await expect(reached).rejects.toThrow("the caller went away");
	});
});

describe("PodStore.refresh()", () => {
	test("does not take the answer of a list that began before it", async () => {
		const { store, lists } = setUp();
		const first = store.refresh();
		await settle();
		const second = store.refresh();
		const third = store.refresh();
		await settle();
		expect(lists).toHaveLength(1);
		lists[0]?.resolve({ pods: [], resourceVersion: "10" });
		await first;
		expect(await isSettled(second)).toBe(false);
		expect(lists).toHaveLength(2);
		lists[1]?.resolve({ pods: [], resourceVersion: "11" });
		await Promise.all([second, third]);
		expect(store.resourceVersion).toBe("11");
	});

	test("lists again after a list that failed", async () => {
		const { store, lists } = setUp();
		const first = store.refresh();
		await settle();
		lists[0]?.reject(new Error("no"));
		await expect(first).rejects.toThrow("no");
		const second = store.refresh();
		await settle();
		lists[1]?.resolve({ pods: [], resourceVersion: "10" });
		await second;
	});

	test("keeps what the watch brought meanwhile", async () => {
		const { store, lists } = setUp();
		store.replace([], "10");
		const refreshed = store.refresh();
		await settle();
		store.apply(added(pod("a", "12")));
		lists[0]?.resolve({ pods: [], resourceVersion: "11" });
		await refreshed;
		expect(names(store)).toEqual(["a"]);
	});

	test("drops everything where the list is older than the view was: etcd was restored", async () => {
		const { store, clock, lists, wentBack } = setUp();
		store.replace([pod("a", "90"), pod("b", "91")], "100");
		store.apply(deleted(pod("b", "101")));
		store.signOfLife(clock.now());
		const refreshed = store.refresh();
		await settle();
		lists[0]?.resolve({ pods: [pod("c", "40")], resourceVersion: "50" });
		await refreshed;
		expect(wentBack).toHaveLength(1);
		expect(names(store)).toEqual(["c"]);
		expect(store.resourceVersion).toBe("50");
		expect(store.goneSince("uid-b")).toBe("50");
		expect(store.live).toBe(false);
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
		expect(names(store)).toEqual([]);
		store.replace([pod("c", "40")], "50");
		expect(names(store)).toEqual(["c"]);
	});

	test("makes a list void that was asked for before", async () => {
		const { store, lists } = setUp();
		store.replace([], "100");
		const refreshed = store.refresh();
		await settle();
		store.reset();
		lists[0]?.resolve({ pods: [pod("old", "99")], resourceVersion: "101" });
		await settle();
		expect(store.synced).toBe(false);
		lists[1]?.resolve({ pods: [], resourceVersion: "50" });
		await refreshed;
		expect(store.resourceVersion).toBe("50");
		expect(names(store)).toEqual([]);
	});
});

import { describe, expect, test } from "vitest";
import { added, deleted, modified, names, pod, setUp } from "./pod-store-setup.ts";

describe("PodStore content", () => {
	test("has nothing and is not synced before the first list", () => {
		const { store } = setUp();
		expect(store.synced).toBe(false);
		expect(store.resourceVersion).toBe("");
		expect(names(store)).toEqual([]);
	});

	test("ignores events and bookmarks before the first list", () => {
		const { store } = setUp();
		store.apply(added(pod("a", "5")));
		store.bookmark("6");
		expect(names(store)).toEqual([]);
		expect(store.resourceVersion).toBe("");
	});

	test("follows events after a list", () => {
		const { store } = setUp();
		store.replace([pod("a", "5"), pod("b", "7")], "10");
		store.apply(added(pod("c", "11")));
		store.apply(modified(pod("a", "12", { ready: false })));
		store.apply(deleted(pod("b", "13")));
		expect(names(store)).toEqual(["a", "c"]);
		expect(store.findByName("db", "a")?.ready).toBe(false);
		expect(store.find({ namespace: "db", uid: "uid-c" })?.resourceVersion).toBe("11");
		expect(store.resourceVersion).toBe("13");
		expect(store.size).toBe(2);
	});

	// No API server sends this. A pod under two names would count as healthy twice.
	test("has a uid under one name only, whatever is sent", () => {
		const { store } = setUp();
		store.replace([pod("a", "5"), pod("b", "6", { uid: "uid-a" }), pod("c", "7")], "10");
		expect(names(store)).toEqual(["b", "c"]);
		store.apply(modified(pod("d", "11", { uid: "uid-c" })));
		expect(names(store)).toEqual(["b", "d"]);
		store.apply(deleted(pod("e", "12", { uid: "uid-c" })));
		expect(names(store)).toEqual(["b"]);
		expect(store.size).toBe(1);
	});

	test("finds a uid only in its own namespace", () => {
		const { store } = setUp();
		store.replace([pod("a", "5")], "10");
		expect(store.find({ namespace: "other", uid: "uid-a" })).toBeUndefined();
	});

	test("ignores an event that the list has in it already", () => {
		const { store } = setUp();
		store.replace([pod("a", "9")], "10");
		store.apply(modified(pod("a", "8", { ready: false })));
		store.apply(deleted(pod("a", "10")));
		expect(store.findByName("db", "a")?.ready).toBe(true);
		expect(store.resourceVersion).toBe("10");
	});

	test("ignores a list that is older than its events", () => {
		const { store } = setUp();
		store.replace([pod("a", "5")], "10");
		store.apply(deleted(pod("a", "12")));
		store.replace([pod("a", "5")], "11");
		expect(names(store)).toEqual([]);
		expect(store.resourceVersion).toBe("12");
	});

	test("takes a bookmark as progress, never as a step back", () => {
		const { store } = setUp();
		store.replace([], "10");
		store.bookmark("20");
		store.bookmark("15");
		expect(store.resourceVersion).toBe("20");
	});

	test("treats a new uid under an old name as a replacement", () => {
		const { store } = setUp();
		store.replace([pod("a", "5")], "10");
		store.apply(added(pod("a", "11", { uid: "second" })));
		expect(store.find({ namespace: "db", uid: "uid-a" })).toBeUndefined();
		expect(store.goneSince("uid-a")).toBe("11");
		expect(store.findByName("db", "a")?.uid).toBe("second");
		store.apply(deleted(pod("a", "12")));
		expect(store.findByName("db", "a")?.uid).toBe("second");
	});
});

describe("PodStore.goneSince()", () => {
	test("is the version of the DELETE", () => {
		const { store } = setUp();
		store.replace([pod("a", "5")], "10");
		store.apply(deleted(pod("a", "12")));
		store.bookmark("30");
		expect(store.goneSince("uid-a")).toBe("12");
	});

	test("is the version of the list that missed the pod", () => {
		const { store } = setUp();
		store.replace([pod("a", "5")], "10");
		store.replace([], "20");
		store.replace([], "30");
		expect(store.goneSince("uid-a")).toBe("20");
	});

	test("is the latest list's version for a uid that was never seen", () => {
		const { store } = setUp();
		store.replace([], "10");
		store.bookmark("15");
		expect(store.goneSince("never")).toBe("10");
	});

	test("is empty while the pod is here", () => {
		const { store } = setUp();
		store.replace([pod("a", "5")], "10");
		expect(store.goneSince("uid-a")).toBe("");
	});

	test("is not older than the deletion of a pod that was forgotten", () => {
		const { store } = setUp({ deletionsKept: 2 });
		store.replace([pod("a", "5"), pod("b", "6"), pod("c", "7")], "10");
		store.apply(deleted(pod("a", "11")));
		store.apply(deleted(pod("b", "12")));
		store.apply(deleted(pod("c", "13")));
		expect(store.goneSince("uid-a")).toBe("11");
		expect(store.goneSince("uid-b")).toBe("12");
		store.apply(added(pod("d", "14")));
		store.apply(deleted(pod("d", "15")));
		expect(store.goneSince("uid-a")).toBe("12");
	});
});

describe("PodStore.live", () => {
	test("needs a first list and a sign of life in the last 5 s", () => {
		const { store, clock } = setUp();
		store.signOfLife(clock.now());
		expect(store.live).toBe(false);
		store.replace([], "10");
		expect(store.live).toBe(true);
		clock.advance(4_999);
		expect(store.live).toBe(true);
		clock.advance(1);
		expect(store.live).toBe(false);
		store.signOfLife(clock.now());
		expect(store.live).toBe(true);
	});

	test("ends at once when the watch is lost", () => {
		const { store, clock } = setUp();
		store.replace([], "10");
		store.signOfLife(clock.now());
		store.watchLost();
		expect(store.live).toBe(false);
	});

	test("is not brought back by a list", () => {
		const { store } = setUp();
		store.replace([pod("a", "5")], "10");
		expect(store.synced).toBe(true);
		expect(store.live).toBe(false);
	});
});

describe("PodStore.beginList()", () => {
	test("shows nothing before the list is complete, and then what it has", () => {
		const { store, clock } = setUp();
		store.replace([pod("a", "5"), pod("b", "6")], "10");
		store.signOfLife(clock.now());
		const list = store.beginList();
		list.put("uid-b", pod("b", "11"));
		list.put("uid-c", pod("c", "12"));
		store.signOfLife(clock.now());
		expect([store.live, store.shows("10"), store.resourceVersion]).toEqual([false, false, "10"]);
		list.remove("uid-c");
		list.end("20");
		store.signOfLife(clock.now());
		expect([names(store), store.shows("20"), store.goneSince("uid-a")]).toEqual([["b"], true, "20"]);
	});

	test("is void after a later list was begun, and after a reset", () => {
		const { store, clock } = setUp();
		const [first, second] = [store.beginList(), store.beginList()];
		first.put("uid-a", pod("a", "5"));
		second.put("uid-b", pod("b", "6"));
		first.end("10");
		expect(store.synced).toBe(false);
		second.end("10");
		expect(names(store)).toEqual(["b"]);
		const third = store.beginList();
		store.reset();
		third.put("uid-c", pod("c", "11"));
		third.end("20");
		store.signOfLife(clock.now());
		expect([store.synced, store.live, names(store)]).toEqual([false, false, []]);
	});

	test("forgets deletions of a lost history at a list that is older", () => {
		const { store } = setUp();
		store.replace([pod("a", "5")], "10");
		store.apply(deleted(pod("a", "90")));
		const list = store.beginList();
		list.put("uid-b", pod("b", "30"));
		list.end("40");
		expect([names(store), store.resourceVersion, store.goneSince("uid-a")]).toEqual([["b"], "40", "40"]);
	});

	test("knows that a pod is gone whose name another one has now", () => {
		const { store } = setUp();
		store.replace([pod("a", "5")], "10");
		store.replace([pod("a", "15", { uid: "another" })], "20");
		expect([store.goneSince("uid-a"), store.goneSince("another")]).toEqual(["20", ""]);
	});
});

describe("PodStore.onChange()", () => {
	test("names the namespaces that changed", () => {
		const { store } = setUp();
		store.replace([pod("a", "5"), pod("w", "6", { namespace: "web" })], "10");
		const changed: string[] = [];
		const stop = store.onChange((namespace) => void changed.push(namespace));
		store.apply(modified(pod("a", "11")));
		store.bookmark("12");
		expect(changed).toEqual(["db"]);
		store.replace([pod("q", "13", { namespace: "queue" })], "20");
		expect(changed.toSorted()).toEqual(["db", "db", "queue", "web"]);
		stop();
		store.apply(deleted(pod("q", "21", { namespace: "queue" })));
		expect(changed).toHaveLength(4);
	});
});

describe("PodStore heartbeats", () => {
	test("come from events, and end with the pod or the view", () => {
		const { store, clock } = setUp();
		const beat = (version: string) => {
			clock.advance(200);
			store.apply(modified(pod("a", version)));
		};
		store.replace([pod("a", "5")], "10");
		beat("11");
		beat("12");
		expect(store.changesEveryMs("uid-a")).toBe(200);
		store.apply(deleted(pod("a", "13")));
		expect(store.changesEveryMs("uid-a")).toBeUndefined();
		store.apply(added(pod("a", "14")));
		beat("15");
		beat("16");
		store.reset();
		expect(store.changesEveryMs("uid-a")).toBeUndefined();
	});
});

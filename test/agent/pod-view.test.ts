import { describe, expect, test } from "vitest";
import { PodStore } from "../../agent/pod-view.ts";
import { AgentUnavailableError } from "../../disruption/errors.ts";
import type { PodRecord } from "../../disruption/pod.ts";
import { createManualClock } from "./manual-clock.ts";

function pod(name: string, resourceVersion: string, more: Partial<PodRecord> = {}): PodRecord {
	return {
		uid: `uid-${name}`,
		name,
		namespace: "db",
		resourceVersion,
		labels: {},
		node: "n0",
		ready: true,
		terminating: false,
		finished: false,
		preActivities: [],
		...more,
	};
}

const added = (object: PodRecord) => ({ type: "ADDED", object, resourceVersion: object.resourceVersion }) as const;
const modified = (object: PodRecord) =>
	({ type: "MODIFIED", object, resourceVersion: object.resourceVersion }) as const;
const deleted = (object: PodRecord) => ({ type: "DELETED", object, resourceVersion: object.resourceVersion }) as const;

type List = { readonly pods: readonly PodRecord[]; readonly resourceVersion: string };

/** A store whose lists are answered by hand, in the order in which they were asked for. */
function setUp(options: { readonly deletionsKept?: number } = {}) {
	const clock = createManualClock();
	const lists: PromiseWithResolvers<List>[] = [];
	const wentBack: true[] = [];
	const store = new PodStore({
		cluster: "eu-1",
		clock,
		listPods: () => {
			const list = Promise.withResolvers<List>();
			lists.push(list);
			return list.promise;
		},
		onWentBack: () => void wentBack.push(true),
		...options,
	});
	return { clock, store, lists, wentBack };
}

const names = (store: PodStore, namespace = "db") => [...store.pods(namespace)].map(({ name }) => name).toSorted();
const settle = () => new Promise((resolve) => setImmediate(resolve));

async function isSettled(promise: Promise<unknown>): Promise<boolean> {
	let settled = false;
	const done = () => void (settled = true);
	promise.then(done, done);
	await settle();
	return settled;
}

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

	test("is not brought back by a list", async () => {
		const { store, lists } = setUp();
		const refreshed = store.refresh();
		await settle();
		lists[0]?.resolve({ pods: [pod("a", "5")], resourceVersion: "10" });
		await refreshed;
		expect(store.synced).toBe(true);
		expect(store.live).toBe(false);
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

	test("rejects where the list fails", async () => {
		const { store, clock, lists } = setUp();
		store.replace([], "10");
		const reached = store.reached("15");
		clock.advance(1_000);
		await settle();
		lists[0]?.reject(new AgentUnavailableError("Cannot list", "eu-1"));
		await expect(reached).rejects.toThrow(AgentUnavailableError);
		expect(store.synced).toBe(true);
	});

	test("rejects where even the list is older than the version", async () => {
		const { store, clock, lists } = setUp();
		store.replace([], "10");
		const reached = store.reached("15");
		clock.advance(1_000);
		await settle();
		lists[0]?.resolve({ pods: [], resourceVersion: "14" });
		await expect(reached).rejects.toThrow(/version 14, but version 15 was seen before/);
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

import { describe, expect, test } from "vitest";
import type { RunEvent, UsedBy } from "../../../plugin/events/events.ts";
import { nodeKey, RunFacts } from "../../../plugin/ui/run-facts.ts";
import { holderText, usersText } from "../../../plugin/ui/user-text.ts";
import { eventSamples } from "../output/event-samples.ts";
import { sampleFacts, startedAt } from "./sample-run.ts";

const pod = { context: "eu", node: "n1", namespace: "shop", pod: "db-0", uid: "u0" };
const waiting = (message: string): RunEvent => ({
	type: "pod.waiting",
	...pod,
	reason: "BudgetExhausted",
	message,
	budget: "shop/db",
	need: 2,
	healthy: 2,
	expected: 3,
	usedBy: [],
});

function see(...events: readonly (readonly [second: number, event: RunEvent])[]): RunFacts {
	const facts = new RunFacts();
	for (const [second, event] of events) facts.see(event, second * 1_000);
	return facts;
}

describe("RunFacts", () => {
	test("count pods by node, context and run", () => {
		const facts = sampleFacts();
		expect(facts.counts()).toEqual({ done: 2, total: 37, terminating: 2, waiting: 2, failed: 0 });
		expect(facts.counts({ context: "prod-eu" })).toEqual({ done: 2, total: 10, terminating: 1, waiting: 0, failed: 0 });
		expect(facts.counts({ context: "prod-eu", node: "node-eu-07" })).toMatchObject({ done: 0, total: 8 });
		expect(facts.nodes.get(nodeKey("prod-eu", "node-eu-03"))).toMatchObject({ state: "drained", pods: 2 });
		expect(facts.nodes.get(nodeKey("prod-ap", "node-ap-04"))).toMatchObject({ state: "queued", pods: 5 });
	});

	test("have who waits in the order in which they began to, and their place for a budget", () => {
		const facts = sampleFacts();
		expect(facts.waiting.map(({ name }) => name)).toEqual(["api-7c9d4-kk2lm", "api-7c9d4-p0z8v"]);
		expect(facts.waiting.map((each) => facts.placeOf(each))).toEqual([1, 2]);
	});

	test("let a wait go on over tries that come to nothing, and over other reasons", () => {
		const facts = see(
			[1, waiting("first")],
			[5, { type: "pod.evicting", ...pod, dryRun: "none", deletes: false, budgets: ["shop/db"], attempt: 1 }],
			[6, { type: "pod.retrying", ...pod, reason: "ServerBusy", message: "busy", retryAfterMs: 5_000 }],
		);
		expect(facts.waiting[0]?.wait).toMatchObject({ since: 1_000, reason: "ServerBusy", retryAt: 11_000 });
		facts.see({ type: "pod.accepted", ...pod, waitedMs: 6_000, graceSeconds: 30 }, 7_000);
		expect(facts.waiting).toEqual([]);
		expect(facts.counts().terminating).toBe(1);
	});

	test("say after what time a pod was gone since its eviction was accepted, without its wait", () => {
		const facts = see(
			[1, waiting("first")],
			[35, { type: "pod.accepted", ...pod, waitedMs: 34_000, graceSeconds: 30 }],
			[37, { type: "pod.evicted", ...pod, deletes: false, elapsedMs: 36_000 }],
		);
		expect(facts.log[0]?.text).toBe("shop/db-0 gone after 2s");
	});

	test("have of a budget what was counted last, who uses it up, and since when nothing is left", () => {
		const counted = { type: "budget.changed", budget: "shop/db", need: 2, expected: 3, clusters: [] } as const;
		const user = { cluster: "us", namespace: "shop", pod: "db-1", why: "NotReady" };
		const facts = see(
			[1, { ...counted, healthy: 3, left: 1 }],
			[2, { ...counted, healthy: 2, left: 0 }],
			[3, { ...waiting("full"), usedBy: [user] } as RunEvent],
		);
		expect(facts.budgets.find("shop/db")).toMatchObject({ left: 0, fullSince: 2_000, usedBy: [user] });
		facts.see({ ...counted, healthy: 3, left: 1 }, 4_000);
		expect(facts.budgets.find("shop/db")).toMatchObject({ left: 1, usedBy: [] });
		expect(facts.budgets.find("shop/db")?.fullSince).toBeUndefined();
	});

	test("tell how long the rest may take by the plan and the pace so far", () => {
		const facts = sampleFacts();
		const [atLeast, atMost] = facts.remaining(startedAt + 161_000) ?? [];
		// By the plan, 79 to 259 s of 240 to 420 are left. At the pace of the two pods that are gone, 50 minutes are left.
		expect(atLeast).toBe(218);
		expect(atMost).toBe(665);
	});

	test("keep only the last 200 events", () => {
		const facts = new RunFacts();
		for (let at = 0; at < 500; at += 1) facts.see({ type: "diagnostic", level: "info", message: `line ${at}` }, at);
		expect(facts.log).toHaveLength(200);
		expect(facts.log[0]?.text).toBe("line 499");
	});

	test("tell once what two parts of a run noticed", () => {
		const facts = new RunFacts();
		const lost = { type: "cluster.unreachable", cluster: "us", message: "no answer", elapsedMs: 0 } as const;
		facts.see(lost, 1);
		facts.see(lost, 2);
		facts.see({ type: "cluster.recovered", cluster: "us", elapsedMs: 9 }, 10);
		facts.see(lost, 11);
		expect(facts.log).toHaveLength(3);
	});

	test("take every kind of event", () => {
		const facts = new RunFacts();
		for (const event of Object.values(eventSamples).flat() as RunEvent[]) facts.see(event, 1_000);
		expect(facts.contexts).toEqual(["eu"]);
		expect(facts.warnings).toHaveLength(4);
	});
});

describe("usersText()", () => {
	const counted = { type: "budget.changed", budget: "shop/db", need: 2, expected: 3, clusters: [] } as const;
	const evicting: RunEvent = {
		type: "pod.evicting",
		...pod,
		dryRun: "none",
		deletes: false,
		budgets: ["shop/db"],
		attempt: 1,
	};
	const full: RunEvent = { ...waiting("full"), uid: "u1", pod: "db-1" } as RunEvent;
	const says = (now: number, ...events: readonly (readonly [second: number, event: RunEvent])[]): string => {
		const facts = see(...events);
		const budget = facts.budgets.find("shop/db");
		return budget ? usersText(facts, budget, { room: 60, now: now * 1_000 }) : "";
	};

	test("says from the grant until the next count what has become of the pod that uses it up", () => {
		const sent = [
			[1, { ...counted, healthy: 3, left: 1 }],
			[2, full],
			[2, evicting],
		] as const;
		const accepted = [3, { type: "pod.accepted", ...pod, waitedMs: 1, graceSeconds: 30 }] as const;
		const gone = [8, { type: "pod.evicted", ...pod, deletes: false, elapsedMs: 6_000 }] as const;
		expect(says(2, ...sent)).toBe("eu/db-0 being evicted 0s");
		expect(says(5, ...sent, accepted)).toBe("eu/db-0 terminating 2s");
		expect(says(9, ...sent, accepted, gone)).toBe("eu/db-0 ended 1s ago");
		expect(says(10, ...sent, accepted, gone, [10, { ...counted, healthy: 3, left: 1 }])).toBe("");
	});

	test("says of a budget that is watched which pods use it up now, whatever this run evicted and was told before", () => {
		const pending = {
			cluster: "eu",
			namespace: "shop",
			pod: "db-0",
			why: "NotReady",
			state: "Pending",
			sinceSeconds: 10,
		};
		const begun = [
			[1, { ...counted, healthy: 3, left: 1, usedBy: [] }],
			[2, evicting],
			[3, { type: "pod.accepted", ...pod, waitedMs: 1, graceSeconds: 30 }],
			[9, { type: "pod.evicted", ...pod, deletes: false, elapsedMs: 6_000 }],
		] as const;
		const replaced = [10, { ...counted, healthy: 2, left: 0, usedBy: [pending] }] as const;
		expect(says(9, ...begun)).toBe("eu/db-0 ended 0s ago");
		expect(says(90, ...begun, [10, { ...counted, healthy: 2, left: 0, usedBy: [] }])).toBe("1 pod missing");
		expect(says(90, ...begun, replaced)).toBe("eu/db-0 Pending 1m20s");
		expect(says(90, ...begun, replaced, [20, { ...counted, healthy: 3, left: 1, usedBy: [] }])).toBe("");
		// The counts of rounds and of waiting pods are not newer than the watch's.
		const late = [
			[20, { ...counted, healthy: 3, left: 1, usedBy: [] }],
			[20, { ...counted, healthy: 2, left: 0 }],
			[20, { ...full, usedBy: [{ ...pending, pod: "db-9" }] } as RunEvent],
		] as const;
		expect(says(90, ...begun, ...late)).toBe("");
		const facts = see(...begun, ...late);
		expect(facts.budgets.find("shop/db")).toMatchObject({ left: 1, healthy: 3 });
		// From here on, only rounds have counts.
		facts.see({ type: "budget.unknown", budget: "shop/db", message: "us: no answer" }, 21_000);
		expect(facts.budgets.find("shop/db")).toMatchObject({ unknown: "us: no answer" });
		expect(facts.budgets.find("shop/db")?.left).toBeUndefined();
		facts.see({ ...counted, healthy: 2, left: 0 }, 22_000);
		expect(facts.budgets.find("shop/db")).toMatchObject({ left: 0, healthy: 2 });
		expect(facts.budgets.find("shop/db")?.unknown).toBeUndefined();
	});

	test("says how many pods are missing where nobody can name them, and not those that this run has evicted", () => {
		const empty = { ...counted, expected: 5, left: 0 } as const;
		const named = { cluster: "eu", namespace: "shop", pod: "db-7", why: "NotReady" } as const;
		const waits = (usedBy: readonly UsedBy[]): RunEvent =>
			({ ...waiting("full"), uid: "u1", pod: "db-1", healthy: 3, expected: 5, usedBy }) as RunEvent;
		expect(says(2, [1, { ...empty, healthy: 4 }])).toBe("1 pod missing");
		expect(says(2, [1, { ...empty, healthy: 3 }])).toBe("2 pods missing");
		expect(says(2, [1, { ...empty, healthy: 5 }])).toBe("");
		expect(says(2, [1, { ...empty, healthy: 3, left: 1 }])).toBe("");
		expect(says(3, [1, { ...empty, healthy: 3 }], [2, waits([named])])).toBe("eu/db-7 not ready +1");
		const twenty = Array.from({ length: 20 }, (_, number) => ({ ...named, pod: `db-${number}` }));
		const more: RunEvent = { ...waits(twenty), expected: 50 } as RunEvent;
		expect(says(3, [2, more])).toBe("eu/db-0 not ready +19");
		expect(says(4, [1, { ...empty, healthy: 4 }], [2, evicting])).toBe("eu/db-0 being evicted 2s");
	});
});

test.each([
	["this very run", { own: true, holder: "alice@laptop drain", account: "alice" }, "by this run"],
	["a person and the account that was verified", { holder: "bob@host drain", account: "ci" }, "by bob@host drain (ci)"],
	["an account alone", { account: "ci" }, "by ci"],
	["nobody", {}, ""],
] as const)("holderText() names %s", (_, used, expected) => {
	expect(holderText({ cluster: "eu", namespace: "shop", pod: "db-0", why: "Reserved", ...used })).toBe(expected);
});

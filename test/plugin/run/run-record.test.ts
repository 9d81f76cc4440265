import { describe, expect, test } from "vitest";
import type { RunEvent } from "../../../plugin/events/events.ts";
import { RunRecord } from "../../../plugin/run/run-record.ts";

const node = (name: string) => ({ context: "eu", node: name });
const pod = (name: string, on?: string) => ({
	context: "eu",
	namespace: "shop",
	pod: name,
	uid: `uid-${name}`,
	...(on !== undefined && { node: on }),
});
const epoch = Date.parse("2026-01-01T00:00:00Z");
const end = { exitCode: 130, interrupted: true };

function recordOf(command: "drain" | "evict" | "uncordon", events: readonly RunEvent[]): RunRecord {
	const record = new RunRecord(command, () => epoch);
	for (const event of events) record.see(event);
	return record;
}

const started: RunEvent = {
	type: "run.started",
	members: [],
	nodes: [node("n1"), node("n2"), node("n3")],
	pods: [],
	dryRun: "none",
};
const cordoned = (name: string, already = false): RunEvent => ({
	type: "node.cordoned",
	...node(name),
	already,
	ours: !already,
	dryRun: "none",
});
const waiting = (name: string, on: string): RunEvent => ({
	type: "pod.waiting",
	...pod(name, on),
	reason: "BudgetExhausted",
	message: "needs 2, has 2",
	usedBy: [],
});

describe("RunRecord", () => {
	test("a drain stopped half way: what is drained, what is not and why, what it cordoned", () => {
		const record = recordOf("drain", [
			started,
			cordoned("n1"),
			cordoned("n2"),
			cordoned("n3", true),
			{ type: "pod.accepted", ...pod("a", "n1"), waitedMs: 10, graceSeconds: 30 },
			{ type: "pod.evicted", ...pod("a", "n1"), deletes: false, elapsedMs: 20 },
			{ type: "node.drained", ...node("n1"), dryRun: "none" },
			waiting("b", "n2"),
			{ type: "pod.stopped", ...pod("b", "n2"), waitedMs: 5_000 },
		]);
		expect(record.summary(end)).toMatchObject({
			evicted: 1,
			failed: 0,
			drained: [node("n1")],
			notDrained: [
				{ ...node("n2"), reason: "BudgetExhausted", message: "needs 2, has 2" },
				{ ...node("n3"), reason: "Interrupted", message: "stopped" },
			],
			cordoned: [node("n2")],
			longestWaitMs: 5_000,
		});
		expect(record.nodesLeft).toEqual([node("n2"), node("n3")]);
		expect(record.ours).toEqual([node("n1"), node("n2")]);
	});

	test("a run that was left: pods that were still terminating, and none of a dry run", () => {
		const accepted = (name: string): RunEvent => ({
			type: "pod.accepted",
			...pod(name, "n1"),
			waitedMs: 10,
			graceSeconds: 30,
		});
		const events: readonly RunEvent[] = [
			started,
			accepted("a"),
			accepted("b"),
			{ type: "pod.evicted", ...pod("a", "n1"), deletes: false, elapsedMs: 20 },
		];
		expect(recordOf("drain", events).summary(end).terminating).toEqual([pod("b", "n1")]);
		expect(recordOf("drain", events).summary({ ...end, interrupted: false })).not.toHaveProperty("terminating");
		const pretended = recordOf("drain", [{ ...started, dryRun: "server" }, ...events.slice(1)]);
		expect(pretended.summary(end)).not.toHaveProperty("terminating");
	});

	test("a node that is not drained, with who used the budget up", () => {
		const usedBy = [
			{
				cluster: "us",
				namespace: "shop",
				pod: "b",
				why: "NotReady",
				state: "Pending",
				sinceSeconds: epoch / 1_000 - 9,
			},
		];
		const record = recordOf("drain", [started, { ...waiting("b", "n2"), usedBy } as RunEvent]);
		const message = "needs 2, has 2; used by shop/b in us: Pending 9s";
		expect(record.summary(end).notDrained[1]).toEqual({ ...node("n2"), reason: "BudgetExhausted", message });
	});

	test("a pod that goes on after a wait is no reason any more", () => {
		const record = recordOf("drain", [
			started,
			waiting("b", "n2"),
			{ type: "pod.evicting", ...pod("b", "n2"), dryRun: "none", deletes: false, budgets: [], attempt: 1 },
		]);
		expect(record.summary(end).notDrained[1]).toMatchObject({ reason: "Interrupted" });
	});

	test("a dry run cordons nothing", () => {
		const record = recordOf("drain", [
			{ type: "node.cordoned", ...node("n1"), already: false, ours: true, dryRun: "server" },
		]);
		expect(record.summary(end).cordoned).toEqual([]);
	});

	test("named pods that are left: neither evicted nor gone nor failed", () => {
		const pods = ["a", "b", "c", "d"].map((name) => pod(name));
		const record = recordOf("evict", [
			{ ...started, nodes: [], pods },
			{ type: "pod.accepted", ...pod("a"), waitedMs: 1, graceSeconds: 30 },
			{ type: "pod.gone", ...pod("b"), waitedMs: 1 },
			{
				type: "pod.failed",
				...pod("c"),
				reason: "Refused",
				message: "no",
				deletes: false,
				accepted: false,
				waitedMs: 1,
			},
			{ type: "pod.stopped", ...pod("d"), waitedMs: 1 },
		]);
		expect(record.podsLeft).toEqual([pod("d")]);
		expect(record.summary(end)).toMatchObject({ evicted: 1, failed: 1, notDrained: [] });
	});

	test("an accepted pod whose end was not seen failed", () => {
		const record = recordOf("evict", [
			{ type: "pod.accepted", ...pod("a"), waitedMs: 1, graceSeconds: 30 },
			{ type: "pod.failed", ...pod("a"), reason: "TimedOut", message: "", deletes: false, accepted: true, waitedMs: 1 },
		]);
		expect(record.summary(end)).toMatchObject({ evicted: 0, failed: 1 });
	});
});

describe("what is left of budgets", () => {
	const evicting = (name: string, budgets: readonly string[], dryRun: "none" | "server" = "none"): RunEvent => ({
		type: "pod.evicting",
		...pod(name),
		dryRun,
		deletes: false,
		budgets,
		attempt: 1,
	});
	const accepted = (name: string): RunEvent => ({ type: "pod.accepted", ...pod(name), waitedMs: 0, graceSeconds: 30 });

	test("has the budgets of pods that were accepted, each once", () => {
		const record = recordOf("evict", [
			evicting("a", ["shop/db", "shop/all"]),
			accepted("a"),
			evicting("b", ["shop/db"]),
			accepted("b"),
			evicting("c", ["shop/refused"]),
			evicting("d", ["shop/tried"], "server"),
			accepted("d"),
		]);
		expect(record.budgets).toEqual(["shop/all", "shop/db"]);
	});

	test("is in the summary", () => {
		const left = { budget: "shop/db", healthy: 2, expected: 3, missing: 1, usedBy: [], message: "not recovered" };
		const record = recordOf("evict", [{ type: "budget.notRecovered", ...left }]);
		expect(record.summary(end).notRecovered).toEqual([left]);
	});
});

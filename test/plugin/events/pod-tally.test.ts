import { describe, expect, test } from "vitest";
import type { RunEvent } from "../../../plugin/events/events.ts";
import { PodTally } from "../../../plugin/events/pod-tally.ts";
import { RunFacts } from "../../../plugin/ui/run-facts.ts";
import { eventSamples } from "../output/event-samples.ts";
import { sampleEvents } from "../ui/sample-run.ts";

const pod = (name: string) => ({ context: "eu", node: "n1", namespace: "shop", pod: name, uid: `uid-${name}` });
const retrying = (name: string): RunEvent => {
	return { type: "pod.retrying", ...pod(name), reason: "DisruptionBudget", message: "no", retryAfterMs: 5_000 };
};
const waiting = (name: string, message: string): RunEvent => {
	return { type: "pod.waiting", ...pod(name), reason: "BudgetExhausted", message, budget: "shop/db", usedBy: [] };
};

function tallyOf(...events: readonly RunEvent[]): PodTally {
	const tally = new PodTally();
	for (const event of events) tally.see(event);
	return tally;
}

describe("PodTally", () => {
	test("counts pods that the API server refuses for now among those that wait", () => {
		const tally = tallyOf({ type: "node.draining", context: "eu", node: "n1", pods: 3 }, retrying("a"));
		expect(tally.counts).toEqual({ done: 0, total: 3, terminating: 0, waiting: 1, failed: 0 });
		expect(tally.waits).toMatchObject([{ reason: "DisruptionBudget" }]);
	});

	test("counts what failed apart from what is done", () => {
		const failed = { reason: "Refused", message: "no", deletes: false, accepted: false, waitedMs: 0 } as const;
		const { counts } = tallyOf(
			{ type: "pod.failed", ...pod("a"), ...failed },
			{ type: "pod.gone", ...pod("b"), waitedMs: 0 },
		);
		expect(counts).toEqual({ done: 1, total: 2, terminating: 0, waiting: 0, failed: 1 });
	});

	test("has all pods of the run in its total from the start, where somebody knows how many", () => {
		const tally = tallyOf({ type: "node.draining", context: "eu", node: "n1", pods: 2 });
		tally.expect(7);
		expect(tally.counts.total).toBe(7);
		const named = ["a", "b"].map(pod);
		expect(tallyOf({ type: "run.started", members: [], nodes: [], pods: named, dryRun: "none" }).counts.total).toBe(2);
	});

	test("has the newest wait first, and none of a pod that goes on", () => {
		const tally = tallyOf(waiting("a", "old"), waiting("b", "other"), waiting("a", "new"));
		expect(tally.waits.map(({ message }) => message)).toEqual(["new", "other"]);
		tally.see({ type: "pod.accepted", ...pod("a"), waitedMs: 0, graceSeconds: 30 });
		expect(tally.waits.map(({ message }) => message)).toEqual(["other"]);
	});

	test("counts what the screen counts", () => {
		const samples: readonly (readonly RunEvent[])[] = [
			Object.values(eventSamples).flat(),
			sampleEvents.map(([, event]) => event),
		];
		for (const events of samples) {
			const facts = new RunFacts();
			for (const event of events) facts.see(event, 0);
			expect(facts.counts()).toEqual(tallyOf(...events).counts);
		}
	});
});

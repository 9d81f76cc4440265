// Tests the events of pods that wait for a budget.
import { describe, expect, test } from "vitest";
import { AgentUnavailableError } from "../../../disruption/errors.ts";
import type { RunEvent } from "../../../plugin/events/events.ts";
import { sumWaits, waitingEvent } from "../../../plugin/evictions/waiting-event.ts";
import { newRun } from "../../support/eviction-run.ts";
import { newDatabase } from "./new-database.ts";

describe("pods that wait", () => {
	test("say who keeps them at once when others do, without a round", async () => {
		const { fleet, pods } = newDatabase();
		const [first, second, third] = pods;
		if (!first || !second || !third) throw new Error("no pods");
		second.pod.healthy = false;
		const run = newRun(fleet);
		// All these looks happen within one round.
		first.member.onLook = () => {
			const { looks, rounds } = first.member;
			expect(rounds).toBe(1);
			if (looks === 5) {
				second.pod.healthy = true;
				third.pod.healthy = false;
			}
			if (looks === 10) run.timeout.abort();
		};
		const by = `shop/${third.pod.name} in ${third.member.name}`;
		const waits = "budget shop/db has no disruption left: 5 of 6 healthy, 5 required; used by";
		expect(await run.evictions.evict(run.job(first.member, first.pod))).toMatchObject({
			kind: "failed",
			waitedFor: `${waits} ${by}: not ready`,
			message: expect.stringContaining(`global timeout reached: 9s: ${waits} ${by}`),
		});
		const told = run.events.filter((event) => event.type === "pod.waiting");
		expect(told.map(({ usedBy }) => usedBy)).toMatchObject([
			[{ cluster: second.member.name, pod: second.pod.name }],
			[{ cluster: third.member.name, pod: third.pod.name }],
		]);
		const states = run.events.flatMap((event) => (event.type === "budget.changed" ? [event] : []));
		const downIn = states.map(({ healthy, clusters }) => [healthy, clusters.filter((each) => each.healthy === 1)]);
		expect(downIn).toMatchObject([
			[5, [{ name: second.member.name }]],
			[5, [{ name: third.member.name }]],
		]);
	});

	test("look three times a second at first, every two seconds in a long wait, and as at first after a grant", async () => {
		const { fleet, pods } = newDatabase();
		const [first, second, third] = pods;
		if (!first || !second || !third) throw new Error("no pods");
		third.pod.healthy = false;
		const run = newRun(fleet);
		const looks: number[] = [];
		let granted: number | undefined;
		third.member.onLook = () => {
			if (fleet.evictions.length > 0) granted ??= looks.length;
			looks.push(run.runtime.now());
			if (looks.length === 90) third.pod.healthy = true;
			if (granted !== undefined && looks.length === granted + 5) run.stop.abort();
		};
		await Promise.all([first, second].map(({ member, pod }) => run.evictions.evict(run.job(member, pod))));
		expect(granted).toBeGreaterThan(85);
		// Every ten seconds, a round runs between two looks. It takes no time here, so each gap is only the pause before a look.
		const gaps = (from: number, to: number) =>
			looks.slice(from, to).map((at, index) => at - (looks[from + index - 1] ?? 0));
		expect(Math.max(...gaps(1, 5))).toBeLessThanOrEqual(300);
		expect(Math.min(...gaps(80, 85))).toBe(2_000);
		expect(Math.min(...gaps((granted ?? 0) + 1, (granted ?? 0) + 5))).toBe(300);
	});

	test("say while the run is paused that an agent answers again, who uses the budget up, and that something is left", async () => {
		const { fleet, pods } = newDatabase();
		const [first, second, third] = pods;
		if (!first || !second || !third) throw new Error("no pods");
		third.pod.healthy = false;
		const run = newRun(fleet);
		const seen = (type: RunEvent["type"]): boolean => run.events.some((event) => event.type === type);
		let isSilent = false;
		second.member.onLook = () => {
			if (!seen("pod.waiting")) return;
			if (!seen("paused")) {
				run.evictions.pause();
				isSilent = true;
			} else if (seen("cluster.unreachable")) isSilent = false;
			if (isSilent) throw new AgentUnavailableError("no answer", second.member.name);
			if (seen("cluster.recovered")) third.pod.healthy = true;
		};
		const evicting = run.evictions.evict(run.job(first.member, first.pod));
		await expect.poll(() => run.events.some((event) => event.type === "budget.changed" && event.left === 1)).toBe(true);
		expect(seen("cluster.recovered")).toBe(true);
		await run.runtime.sleep(60_000, new AbortController().signal);
		expect(fleet.evictions).toEqual([]);
		run.evictions.resume();
		expect(await evicting).toEqual({ kind: "evicted" });
	});

	test("say in whole milliseconds when they are looked at again", () => {
		const { fleet, pods } = newDatabase();
		const [first] = pods;
		if (!first) throw new Error("no pods");
		const job = newRun(fleet).job(first.member, first.pod);
		const wait = { reason: "BudgetExhausted", message: "used up" } as const;
		expect(waitingEvent(job, wait, 320.515)).toMatchObject({ type: "pod.waiting", retryAfterMs: 321 });
	});

	test("say for the progress what they wait for", async () => {
		const { fleet, pods } = newDatabase();
		const [first] = pods;
		if (!first) throw new Error("no pods");
		first.pod.healthy = false;
		const run = newRun(fleet);
		first.member.onLook = () => {
			if (first.member.looks < 3) return;
			expect(sumWaits(run.tally().waits)).toMatchObject([
				{ pods: 5, reason: "BudgetExhausted", budget: "shop/db", usedBy: [{ cluster: first.member.name }] },
			]);
			run.stop.abort();
		};
		await Promise.all(pods.slice(1).map(({ member, pod }) => run.evictions.evict(run.job(member, pod))));
		expect(first.member.looks).toBe(3);
		expect(run.tally().waits).toEqual([]);
	});
});

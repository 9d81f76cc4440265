import { describe, expect, test } from "vitest";
import type { UsedBy, WaitSum } from "../../../plugin/events/events.ts";
import { epoch, evicting, pod, print, type Timed, waiting } from "./print-plain.ts";

describe("waiting", () => {
	const line = "err: pod default/web-1 waits: budget default/web has no disruption left: 2 of 3 healthy, 2 required";

	test("is told once, then every 60 s", () => {
		expect(
			print([
				[0, waiting],
				[10_000, waiting],
				[59_000, waiting],
				[60_000, waiting],
				[70_000, waiting],
			]),
		).toEqual([line, line]);
	});

	test("is told again when the reason changes", () => {
		expect(
			print([
				[0, waiting],
				[
					1_000,
					{ ...waiting, reason: "PodReserved", message: "pod default/web-1 is being evicted by bob@host drain 11aa" },
				],
				[2_000, waiting],
			]),
		).toEqual([line, "err: pod default/web-1 waits: it is being evicted by bob@host drain 11aa", line]);
	});

	test("is told again when the budget needs more, not when it has more", () => {
		const stricter = {
			...waiting,
			need: 3,
			message: "budget default/web has no disruption left: 3 of 4 healthy, 3 required",
		};
		expect(
			print([
				[0, waiting],
				[
					1_000,
					{ ...waiting, healthy: 1, message: "budget default/web has no disruption left: 1 of 3 healthy, 2 required" },
				],
				[2_000, stricter],
				[3_000, stricter],
			]),
		).toEqual([
			line,
			"err: pod default/web-1 waits: budget default/web has no disruption left: 3 of 4 healthy, 3 required",
		]);
	});

	test("is told again for a pod that was tried meanwhile", () => {
		expect(
			print([
				[0, waiting],
				[1_000, evicting],
				[2_000, waiting],
			]),
		).toEqual([line, "out: evicting pod default/web-1", line]);
	});

	test("of many pods under one budget is told for the first five", () => {
		const events = Array.from({ length: 9 }, (_, index): Timed => [index, { ...waiting, pod: `web-${index}` }]);
		const lines = print([...events, [60_000, { ...waiting, pod: "web-0" }]]);
		expect(lines).toHaveLength(7);
		expect(lines.slice(5)).toEqual(["err: more pods wait for budget default/web", line.replace("web-1", "web-0")]);
	});

	const since = (seconds: number): number => epoch / 1_000 - seconds;
	const words = "0/3 nodes are available: 3 node(s) were unschedulable. preemption: none.";
	const pending = { cluster: "us", namespace: "default", pod: "web-2", why: "NotReady", state: "Pending" } as const;
	const stuck = { ...pending, message: words, sinceSeconds: since(540) };
	const evicted = {
		cluster: "eu",
		namespace: "default",
		pod: "web-3",
		why: "Reserved",
		holder: "bob@host drain 11aa",
		sinceSeconds: since(12),
	} as const;
	const used = (...usedBy: readonly UsedBy[]) => ({ ...waiting, usedBy });

	test("names who uses the budget, how they are and since when", () => {
		expect(print([[0, used(evicted, stuck)]])).toEqual([
			`${line}; used by default/web-3 in eu: being evicted by bob@host drain 11aa for 12s; default/web-2 in us: Pending 9m, 0/3 nodes are available: 3 node(s) were unschedulable`,
		]);
	});

	test("names them for a second pod too, without saying again how they are", () => {
		const second = { ...used(stuck), pod: "web-4" };
		expect(
			print([
				[0, used(stuck)],
				[10, second],
			]).slice(1),
		).toEqual([`${line.replace("web-1", "web-4")}; used by default/web-2 in us`]);
		expect(
			print([
				[0, used(stuck)],
				[10, { ...second, usedBy: [evicted] }],
			]).slice(1),
		).toEqual([
			`${line.replace("web-1", "web-4")}; used by default/web-3 in eu: being evicted by bob@host drain 11aa for 12s`,
		]);
	});

	test("says at once when others use the budget, but not that time passes", () => {
		const lines = print([
			[0, used(stuck)],
			[9_000, used(stuck)],
			[9_300, used(evicted)],
			[9_600, used(evicted)],
			[20_000, used()],
		]);
		expect(lines.slice(1)).toEqual([
			"err: budget default/web is now used by default/web-3 in eu: being evicted by bob@host drain 11aa for 21s",
			"err: budget default/web has no disruption left: 2 of 3 healthy, 2 required, and none of its pods is down now",
		]);
	});

	test("says so once for all pods that wait for the budget", () => {
		const two = (usedBy: readonly UsedBy[], at: number): readonly Timed[] =>
			["web-1", "web-4"].map((name): Timed => [at, { ...waiting, pod: name, usedBy }]);
		expect(print([...two([stuck], 0), ...two([evicted], 9_000)])).toHaveLength(3);
	});

	test("says at most every five seconds who uses it, where that goes to and fro", () => {
		const events = Array.from(
			{ length: 100 },
			(_, index): Timed => [index * 300, used(index % 2 === 0 ? stuck : evicted)],
		);
		expect(print(events).length).toBeLessThanOrEqual(7);
	});

	test("says nothing of who uses a budget for which no pod on the screen waits any more", () => {
		for (const over of [evicting, { type: "pod.gone", ...pod, waitedMs: 0 }] as const) {
			const other = { ...used(evicted), pod: "web-9" };
			const crowd = Array.from({ length: 8 }, (_, index): Timed => [1, { ...used(stuck), pod: `web-1${index}` }]);
			const lines = print([
				[0, used(stuck)],
				...crowd.slice(0, 1),
				[2, over],
				[3, { ...over, pod: "web-10" }],
				[9_000, { ...other, pod: "web-1" }],
			]);
			expect(lines.filter((text) => text.includes("is now used by"))).toEqual([]);
		}
	});
});

describe("progress", () => {
	const progress = {
		type: "progress",
		podsDone: 3,
		failed: 0,
		podsTotal: 9,
		nodesDone: 0,
		nodesTotal: 0,
		terminating: 0,
	} as const;
	const cart = {
		pods: 2,
		reason: "BudgetExhausted",
		budget: "shop/cart",
		usedBy: [
			{
				cluster: "c2",
				namespace: "shop",
				pod: "cart-1",
				why: "NotReady",
				state: "Pending",
				message: "0/3 nodes are available",
				sinceSeconds: epoch / 1_000 - 540,
			},
		],
	} as const;

	const rows: readonly { name: string; waiting: number; waits: readonly WaitSum[]; expected: string }[] = [
		{ name: "nothing where nobody waits", waiting: 0, waits: [], expected: "0 waiting" },
		{
			name: "what the pods wait for",
			waiting: 2,
			waits: [cart],
			expected: "2 waiting for budget shop/cart (shop/cart-1 in c2: Pending 9m)",
		},
		{
			name: "how many wait for what",
			waiting: 4,
			waits: [cart, { pods: 1, reason: "PreActivityPending", usedBy: [] }],
			expected: "4 waiting: 2 for budget shop/cart (shop/cart-1 in c2: Pending 9m), 1 for PreActivityPending",
		},
		{
			name: "a budget that nobody uses up",
			waiting: 2,
			waits: [{ ...cart, usedBy: [] }],
			expected: "2 waiting for budget shop/cart",
		},
		{ name: "that some wait and have not been told why", waiting: 3, waits: [], expected: "3 waiting" },
	];
	for (const { name, expected, ...waits } of rows) {
		test(`says ${name}`, () =>
			expect(print([[0, { ...progress, ...waits }]])).toEqual([`err: progress 3/9 pods, ${expected}`]));
	}
});

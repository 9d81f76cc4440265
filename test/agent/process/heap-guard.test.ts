import { describe, expect, test } from "vitest";
import { heapGuard } from "../../../agent/process/heap-guard.ts";
import { PeriodicWork } from "../../../agent/process/periodic-work.ts";
import { createManualClock } from "../../support/manual-clock.ts";

function setUp({ canCollect = true } = {}) {
	const clock = createManualClock();
	const heap = { live: 10, garbage: 0 };
	const told: string[] = [];
	let collections = 0;
	const problems: unknown[] = [];
	const periodic = new PeriodicWork({ clock, report: (problem) => void problems.push(problem) });
	periodic.begin(
		heapGuard({
			read: () => ({ used: heap.live + heap.garbage, limit: 100 }),
			collect: canCollect
				? () => {
						collections += 1;
						heap.garbage = 0;
					}
				: undefined,
			now: () => clock.now(),
			warn: ({ used }) => void told.push(`warned at ${used}`),
			end: ({ used }) => void told.push(`ended at ${used}`),
		}),
	);
	return {
		heap,
		told,
		collections: () => collections,
		pass: async (seconds: number): Promise<void> => {
			for (let second = 0; second < seconds; second += 1) {
				clock.advance(1_000);
				await new Promise<void>(setImmediate);
			}
			expect(problems).toEqual([]);
		},
	};
}

describe("heapGuard()", () => {
	test("collects nothing while there is room", async () => {
		const { heap, told, collections, pass } = setUp();
		heap.garbage = 69;
		await pass(60);
		expect([collections(), told]).toEqual([0, []]);
	});

	test("takes garbage for nothing", async () => {
		const { heap, told, collections, pass } = setUp();
		heap.garbage = 89;
		await pass(2);
		expect([collections(), told]).toEqual([1, []]);
	});

	test("warns once in ten minutes, and collects every ten seconds", async () => {
		const { heap, told, collections, pass } = setUp();
		heap.live = 85;
		await pass(60);
		expect(told).toEqual(["warned at 85"]);
		expect(collections()).toBeLessThanOrEqual(6);
		await pass(600);
		expect(told).toEqual(["warned at 85", "warned at 85"]);
	});

	test("ends where collecting leaves too little, also right after a collection", async () => {
		const { heap, told, pass } = setUp();
		heap.live = 85;
		await pass(1);
		heap.live = 95;
		await pass(5);
		expect(told).toEqual(["warned at 85", "ended at 95"]);
	});

	test("spends at most a tenth of the time on collections while garbage is made fast", async () => {
		const { heap, collections, pass } = setUp();
		heap.live = 88;
		for (let second = 0; second < 60; second += 1) {
			heap.garbage = 6;
			await pass(1);
		}
		expect(collections()).toBeLessThanOrEqual(60);
		expect(collections()).toBeGreaterThan(5);
	});

	test("does nothing where garbage cannot be told from what is used", async () => {
		const { heap, told, pass } = setUp({ canCollect: false });
		heap.garbage = 90;
		await pass(60);
		expect(told).toEqual([]);
	});
});

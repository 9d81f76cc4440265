import { describe, expect, test } from "vitest";
import { PeriodicWork } from "../../../agent/process/periodic-work.ts";
import { Readiness } from "../../../agent/process/readiness.ts";
import { createManualClock } from "../../support/manual-clock.ts";

function setUp() {
	const clock = createManualClock();
	const problems: unknown[] = [];
	const periodic = new PeriodicWork({ clock, report: (problem) => void problems.push(problem) });
	const advance = async (ms: number): Promise<void> => {
		clock.advance(ms);
		await new Promise<void>(setImmediate);
	};
	return { periodic, problems, advance };
}

const pauseMs = () => 1_000;

describe("PeriodicWork", () => {
	test("waits from the end of one pass to the next, for each job by itself", async () => {
		const { periodic, advance } = setUp();
		const slow = Promise.withResolvers<void>();
		const passes = { slow: 0, quick: 0 };
		periodic.begin({
			pauseMs,
			async pass() {
				passes.slow += 1;
				await slow.promise;
			},
		});
		periodic.begin({ pauseMs, pass: () => void (passes.quick += 1) });
		expect(passes).toEqual({ slow: 0, quick: 0 });
		for (let pass = 0; pass < 3; pass += 1) await advance(1_000);
		expect(passes).toEqual({ slow: 1, quick: 3 });
		slow.resolve();
		await advance(0);
		await advance(999);
		expect(passes.slow).toBe(1);
		await advance(1);
		expect(passes.slow).toBe(2);
	});

	test("reports a pass that fails, and goes on", async () => {
		const { periodic, problems, advance } = setUp();
		const problem = new Error("no answer");
		periodic.begin({
			pauseMs,
			isDueAtOnce: true,
			pass() {
				throw problem;
			},
		});
		await advance(0);
		await advance(1_000);
		expect(problems).toEqual([problem, problem]);
	});

	test("ends with a job that is done", async () => {
		const { periodic, advance } = setUp();
		let passes = 0;
		periodic.begin({
			pauseMs,
			pass() {
				passes += 1;
				return passes === 2 ? "done" : undefined;
			},
		});
		for (let pass = 0; pass < 5; pass += 1) await advance(1_000);
		expect(passes).toBe(2);
	});

	test("tells a pass under way that the work ends, and begins no other", async () => {
		const { periodic, advance } = setUp();
		let passes = 0;
		periodic.begin({
			pauseMs,
			async pass(ending) {
				passes += 1;
				await new Promise((resolve) => ending.addEventListener("abort", resolve));
			},
		});
		await advance(1_000);
		periodic.close();
		await advance(10_000);
		expect(passes).toBe(1);
	});
});

test("Readiness waits for what must be there first", () => {
	const readiness = new Readiness();
	const isThere = readiness.waitFor("The API server has not answered yet");
	expect(readiness.reasons).toEqual(["The API server has not answered yet"]);
	isThere();
	expect(readiness.reasons).toEqual([]);
});

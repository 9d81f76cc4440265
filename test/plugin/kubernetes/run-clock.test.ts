import { describe, expect, test } from "vitest";
import { judgeCoverage } from "../../../disruption/budget/coverage-judgement.ts";
import { fleetHash } from "../../../disruption/budget/fleet.ts";
import { createRunClock, runClock } from "../../../plugin/kubernetes/run-clock.ts";
import { createRunRuntime } from "../../../plugin/run/run-runtime.ts";

/** Plays a machine's clocks. The test can put the machine to sleep and set its wall clock. */
function newMachine() {
	const at = { monotonic: 5_000, wall: 1_700_000_000_000 };
	const clock = createRunClock(
		() => at.monotonic,
		() => at.wall,
	);
	const pass = (ms: number): void => {
		at.monotonic += ms;
		at.wall += ms;
	};
	return { at, clock, pass };
}

describe("createRunClock()", () => {
	test("goes on as the monotonic clock does", () => {
		const { clock, pass } = newMachine();
		const before = clock();
		pass(1_234);
		expect(clock() - before).toBe(1_234);
	});

	test("goes on while the machine sleeps and the monotonic clock stands still", () => {
		const { at, clock, pass } = newMachine();
		const before = clock();
		pass(300);
		at.wall += 3_600_000;
		pass(200);
		expect(clock() - before).toBe(3_600_500);
		pass(10);
		expect(clock() - before).toBe(3_600_510);
	});

	test("never stands still or goes back where the wall clock is set back, and sees a later sleep all the same", () => {
		const { at, clock, pass } = newMachine();
		const before = clock();
		at.wall -= 7_200_000;
		pass(400);
		expect(clock() - before).toBe(400);
		at.wall += 60_000;
		expect(clock() - before).toBe(60_400);
	});

	test("goes no faster for a wall clock that is read in whole milliseconds, or is slewed", () => {
		const { at, clock } = newMachine();
		const before = clock();
		for (let reading = 1; reading <= 10_000; reading += 1) {
			at.monotonic += 0.3;
			at.wall = Math.floor(1_700_000_000_000 + reading * 0.3 * 1.0005);
			clock();
		}
		expect(clock() - before).toBeCloseTo(3_000);
	});

	test("makes a list too old that was asked for before the machine slept", () => {
		const { at, clock, pass } = newMachine();
		const listed = {
			askedAt: clock(),
			namespaces: ["shop"],
			members: [{ clusterId: "eu", clusterName: "eu", fleetHash: fleetHash(["eu"]), budgets: [] }],
		};
		const judge = () =>
			judgeCoverage(
				{ namespace: "shop", version: { resourceVersion: "1", labels: {}, readAt: listed.askedAt } },
				listed,
				{ memberIds: ["eu"], now: clock(), triedAt: listed.askedAt },
			).kind;
		pass(200);
		expect(judge()).toBe("uncovered");
		at.wall += 8 * 3_600_000;
		expect(judge()).toBe("listAgain");
	});
});

test("is what a run, and what is listed before it begins, go by", () => {
	const runtime = createRunRuntime(() => undefined);
	const before = runClock();
	const now = runtime.now();
	expect(now).toBeGreaterThanOrEqual(before);
	expect(runClock()).toBeGreaterThanOrEqual(now);
});

import { describe, expect, test } from "vitest";
import type { Fleet } from "../../../plugin/fleet/fleet.ts";
import { connectWithin, TimeLimits } from "../../../plugin/run/time-limits.ts";
import { FleetUncoveredError } from "../../../plugin/terminal/errors.ts";

const never = new Promise<never>(() => undefined);

describe("TimeLimits", () => {
	test("wait for the work where there is no timeout, or it has not come", async () => {
		const limits = new TimeLimits();
		let isDone = false;
		const work = new Promise<void>((resolve) => setTimeout(resolve, 20)).then(() => {
			isDone = true;
		});
		await limits.wait(work);
		expect(isDone).toBe(true);
		limits.add(new AbortController().signal);
		await limits.wait(Promise.resolve());
	});

	test("leave the work a moment after the last timeout, and no second one", async () => {
		const limits = new TimeLimits();
		limits.add(AbortSignal.timeout(10));
		limits.add(AbortSignal.timeout(200));
		const startedAt = performance.now();
		await limits.wait(never);
		const tookMs = performance.now() - startedAt;
		expect(tookMs).toBeGreaterThan(1_600);
		await limits.wait(never);
		expect(performance.now() - startedAt - tookMs).toBeLessThan(500);
	});
});

describe("connectWithin()", () => {
	test("gives what was reached in time, and what takes as long as it likes without a timeout", async () => {
		const reached = { fleet: undefined, uncovered: [] };
		const connecting = { connection: Promise.resolve(reached), silent: new Set<string>() };
		expect(await connectWithin(60_000, connecting)).toBe(reached);
		expect(await connectWithin(0, connecting)).toBe(reached);
	});

	test("refuses a fleet that is not reached in time, names who is silent, and closes it when it is reached", async () => {
		const closed = Promise.withResolvers<void>();
		const late = Promise.withResolvers<{ readonly fleet: Fleet; readonly uncovered: [] }>();
		const silent = new Set(["us", "eu", "ap"]);
		const connecting = connectWithin(20, { connection: late.promise, silent });
		silent.delete("ap");
		await expect(connecting).rejects.toThrow(
			new FleetUncoveredError("cannot reach every cluster of the fleet within 20ms, nothing was touched", [
				"eu: no answer so far",
				"us: no answer so far",
			]),
		);
		late.resolve({ fleet: { close: () => closed.resolve() } as unknown as Fleet, uncovered: [] });
		await closed.promise;
	});
});

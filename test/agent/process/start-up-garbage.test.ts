import { afterEach, describe, expect, test, vi } from "vitest";
import { PeriodicWork } from "../../../agent/process/periodic-work.ts";
import { startUpGarbage } from "../../../agent/process/start-up-garbage.ts";
import { createManualClock } from "../../support/manual-clock.ts";

describe("startUpGarbage()", () => {
	afterEach(() => vi.unstubAllGlobals());

	function setUp() {
		const gc = vi.fn<() => void>();
		vi.stubGlobal("gc", gc);
		const clock = createManualClock();
		let started = false;
		const problems: unknown[] = [];
		const periodic = new PeriodicWork({ clock, report: (problem) => void problems.push(problem) });
		periodic.begin(startUpGarbage(() => started));
		const pass = async (ms: number): Promise<void> => {
			clock.advance(ms);
			await new Promise<void>(setImmediate);
		};
		return { gc, problems, pass, end: () => periodic.close(), start: () => void (started = true) };
	}

	test("collects once, after the first lists", async () => {
		const { gc, pass, start } = setUp();
		await pass(10_000);
		expect(gc).not.toHaveBeenCalled();
		start();
		await pass(2_000);
		await pass(60_000);
		expect(gc).toHaveBeenCalledOnce();
	});

	test("not at all once it was ended", async () => {
		const { gc, pass, start, end } = setUp();
		start();
		end();
		await pass(60_000);
		expect(gc).not.toHaveBeenCalled();
	});

	test("does nothing where Node was started without --expose-gc", async () => {
		const { problems, pass, start } = setUp();
		vi.stubGlobal("gc", undefined);
		start();
		await pass(60_000);
		expect(problems).toEqual([]);
	});
});

import { afterEach, describe, expect, test, vi } from "vitest";
import { collectStartUpGarbage } from "../../../agent/process/start-up-garbage.ts";
import { createManualClock } from "../../support/manual-clock.ts";

describe("collectStartUpGarbage()", () => {
	afterEach(() => vi.unstubAllGlobals());

	function setUp() {
		const gc = vi.fn<() => void>();
		vi.stubGlobal("gc", gc);
		const clock = createManualClock();
		let started = false;
		const end = collectStartUpGarbage(clock, () => started);
		return { gc, clock, end, start: () => void (started = true) };
	}

	test("collects once, after the first lists", () => {
		const { gc, clock, start } = setUp();
		clock.advance(10_000);
		expect(gc).not.toHaveBeenCalled();
		start();
		clock.advance(2_000);
		clock.advance(60_000);
		expect(gc).toHaveBeenCalledOnce();
	});

	test("not at all once it was ended", () => {
		const { gc, clock, start, end } = setUp();
		start();
		end();
		clock.advance(60_000);
		expect(gc).not.toHaveBeenCalled();
	});

	test("does nothing where Node was started without --expose-gc", () => {
		const { clock, start } = setUp();
		vi.stubGlobal("gc", undefined);
		start();
		expect(() => clock.advance(60_000)).not.toThrow();
	});
});

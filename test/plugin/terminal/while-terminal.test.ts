import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { whileTerminal } from "../../../plugin/terminal/while-terminal.ts";

describe("whileTerminal()", () => {
	beforeEach(() => void vi.useFakeTimers());
	afterEach(() => void vi.useRealTimers());

	test("aborts within a moment when the terminal has gone away", () => {
		let isThere = true;
		const signal = whileTerminal(() => isThere);
		vi.advanceTimersByTime(60_000);
		expect(signal.aborted).toBe(false);
		isThere = false;
		vi.advanceTimersByTime(200);
		expect(signal.aborted).toBe(true);
		expect(vi.getTimerCount()).toBe(0);
	});

	test("never aborts where there was none", () => {
		const signal = whileTerminal(() => false);
		vi.advanceTimersByTime(60_000);
		expect(signal.aborted).toBe(false);
	});
});

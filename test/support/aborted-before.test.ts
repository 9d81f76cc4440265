// Tests helpers whose signal has aborted before they are called: they must not wait for it.
import { expect, test } from "vitest";
import { createManualClock, sleepOn } from "./manual-clock.ts";
import { createTimeLimit } from "./time-limit.ts";

test("sleepOn() does not sleep", async () => {
	const clock = createManualClock();
	await sleepOn(clock, 1_000, AbortSignal.abort());
	expect(clock.now()).toBe(0);
});

test("startTimer() of a time limit expires at once", async () => {
	const { startTimer, never, signal } = createTimeLimit();
	void never();
	await new Promise((resolve) => signal.addEventListener("abort", resolve));
	const expired = new Promise((resolve) => startTimer(() => resolve("expired"), 1_000));
	expect(await expired).toBe("expired");
});

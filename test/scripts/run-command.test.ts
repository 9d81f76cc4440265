import { describe, expect, test } from "vitest";
import { runCommand } from "../../scripts/run-command.ts";

describe("runCommand()", () => {
	const forEver = [process.execPath, "-e", "console.log('up'); setTimeout(() => undefined, 60_000)"] as const;

	test("starts no program if the signal has aborted before", async () => {
		const { code, output } = await runCommand(forEver, { signal: AbortSignal.abort() });
		expect([code, output]).toEqual([1, `${process.execPath} was not started: interrupted before`]);
	});

	test("ends the program when the signal aborts", async () => {
		const stop = new AbortController();
		const running = runCommand(forEver, { signal: stop.signal });
		stop.abort();
		expect((await running).code).toBe(1);
	});
});

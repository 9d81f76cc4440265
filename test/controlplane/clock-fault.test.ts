import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { type WrongClock, wrongClock } from "./clock-fault.ts";

const run = promisify(execFile);

/** Returns the time that a process with this clock reports, minus the real time. */
async function deviation(clock: WrongClock, expression: string): Promise<number> {
	const env = { PATH: process.env["PATH"], ...wrongClock(clock) };
	const { stdout } = await run(process.execPath, ["-e", `console.log(${expression})`], { env });
	return Number(stdout) - Date.now();
}

describe("wrongClock()", () => {
	for (const expression of [
		"Date.now()",
		"new Date().getTime()",
		"Date.parse(Date()) + 500",
		"+new (class extends Date {})",
	]) {
		for (const offsetMs of [60_000, -60_000]) {
			test(`${expression} is ${offsetMs / 1000} s off`, async () => {
				// The process takes time to end.
				const off = await deviation({ offsetMs }, expression);
				expect(off).toBeLessThan(offsetMs + 1_000);
				expect(off).toBeGreaterThan(offsetMs - 10_000);
			});
		}
	}

	test("leaves the monotonic clock, and dates that are given, alone", async () => {
		const { stdout } = await run(
			process.execPath,
			[
				"-e",
				"console.log(performance.now() < 10000, new Date(5).getTime(), Date.UTC(1970), new Date() instanceof Date)",
			],
			{ env: { PATH: process.env["PATH"], ...wrongClock({ offsetMs: 60_000 }) } },
		);
		expect(stdout.trim()).toBe("true 5 0 true");
	});

	test("drifts, and jumps", async () => {
		const script = `
			const before = Date.now();
			const until = performance.now() + 100;
			let most = 0;
			while (performance.now() < until) most = Math.max(most, Math.abs(Date.now() - before));
			console.log(most);`;
		const passed = async (clock: WrongClock) =>
			Number((await run(process.execPath, ["-e", script], { env: wrongClock(clock) })).stdout);
		expect(await passed({ rate: 100 })).toBeGreaterThan(5_000);
		expect(await passed({ offsetMs: 30_000, jumpEveryMs: 50 })).toBeGreaterThan(50_000);
	});
});

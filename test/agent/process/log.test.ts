import { spawn } from "node:child_process";
import { existsSync, openSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { createLogger } from "../../../agent/process/log.ts";
import { createMetrics } from "../../../agent/process/metrics.ts";
import { createProblemLog } from "../../../agent/process/problem-log.ts";
import { AgentUnavailableError } from "../../../disruption/errors.ts";

function collect() {
	const lines: string[] = [];
	return { lines, log: createLogger("info", { write: (line) => void lines.push(line) }) };
}

const token = "eyJhbGciOiJSUzI1NiIsImtpZCI6IngifQ.eyJhdWQiOlsieHBkYi1hZ2VudCJdfQ.c2lnbmF0dXJlLXdpdGgtXy0";

describe("the log", () => {
	test("is one JSON object a line", () => {
		const { lines, log } = collect();
		log.info({ user: "alice" }, "A caller was let in");
		log.debug("Not at this level");
		expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
			{ level: "info", time: expect.any(String), user: "alice", msg: "A caller was let in" },
		]);
	});

	// Only Linux has /dev/full, a disk that is always full.
	test.skipIf(!existsSync("/dev/full"))("on a full disk is no reason to end", async () => {
		const script = `
			const { createLogger } = await import(${JSON.stringify(new URL("../../../agent/process/log.ts", import.meta.url).href)});
			const log = createLogger("info");
			for (let line = 0; line < 10_000; line += 1) log.info({ line }, "Does not fit");
			setTimeout(() => process.exit(7), 50);`;
		const stdio = ["ignore", openSync("/dev/full", "w"), "inherit"] as const;
		const child = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: [...stdio] });
		expect(await new Promise((resolve) => child.once("close", resolve))).toBe(7);
	});

	test("never has a token in it, wherever it comes from", () => {
		const { lines, log } = collect();
		log.error({ err: new Error(`Bad header authorization: Bearer opaque-secret`, { cause: new Error(token) }) });
		log.info({ metadata: { authorization: [`Bearer ${token}`] } }, `Token ${token}`);
		expect(lines.join("")).not.toMatch(/eyJ|opaque-secret/);
		expect(lines.every((line) => typeof JSON.parse(line) === "object")).toBe(true);
	});

	test("does not steer the terminal of whoever reads it, and says the same", () => {
		const { lines, log } = collect();
		const user = "al\u202eice\u009b31m\u200b\u{e0041}";
		log.info({ user }, "A caller");
		expect(lines[0]).toMatch(/^[\x20-\x7e]+\n$/);
		expect(JSON.parse(lines[0] ?? "")).toMatchObject({ user });
	});

	test("has lines with an end, whatever is in them", () => {
		const { lines, log } = collect();
		const long = "x".repeat(100_000);
		log.warn({ err: new Error(long), ids: Array.from({ length: 10_000 }, () => "an id") }, "Too much");
		log.warn(Object.fromEntries(Array.from({ length: 100 }, (_, field) => [`field${field}`, long])), "Far too much");
		const [cut, left] = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
		expect(cut).toMatchObject({ msg: "Too much", err: { message: `${"x".repeat(2_000)}…` } });
		expect(left).toMatchObject({ msg: "A line was left out of the log: it is too long" });
		expect(lines.every((line) => line.length <= 16 * 1024 + 1 && line.endsWith("\n"))).toBe(true);
	});

	test("has errors of ours by reason, and bugs with their stack", () => {
		const { lines, log } = collect();
		log.warn({ err: new AgentUnavailableError("No answer", "eu-1", { cause: new Error("ECONNREFUSED") }) });
		log.error({ err: new TypeError("x is not a function") });
		const [ours, bug] = lines.map((line) => (JSON.parse(line) as { err: Record<string, unknown> }).err);
		expect(ours).toEqual({ reason: "AgentUnavailable", message: "No answer", cause: "ECONNREFUSED" });
		expect(bug).toMatchObject({ name: "TypeError", stack: expect.stringContaining("log.test.ts") });
	});
});

describe("createProblemLog()", () => {
	test("counts every problem and says the same one only once in a while", async () => {
		const { lines, log } = collect();
		const metrics = createMetrics({ version: "0.1.0" });
		let now = 0;
		const report = createProblemLog(metrics, log, () => now);
		const problem = new AgentUnavailableError("No answer", "eu-1");
		report(problem);
		report(problem);
		report(new Error("Another one"));
		now = 10_000;
		report(problem);
		expect(lines).toHaveLength(3);
		const text = await metrics.registry.metrics();
		expect(text).toContain('xpdb_problems_total{reason="AgentUnavailable"} 3');
		expect(text).toContain('xpdb_problems_total{reason="Bug"} 1');
	});
});

import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readdirSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { readTimeline } from "../../demo/audit/audit.ts";
import { findViolations, replayAvailability, worstUnavailable } from "../../demo/audit/availability.ts";
import { startDemonstration } from "./started-demonstration.ts";

const run = promisify(execFile);
// The demonstration takes some seconds on an idle machine.
const options = { timeout: 180_000 };
const contexts = ["eu", "us", "ap"];

/** Replays the API servers' audit logs, so that the test does not rely on what the demonstration prints. */
async function samplesOf(temporary: string) {
	const [folder = ""] = readdirSync(temporary).filter((name) => name.startsWith("xpdb-start-"));
	const logs = contexts.map((name) => ({ name, auditLog: join(temporary, folder, name, "audit.jsonl") }));
	const database = { namespace: "default", matchLabels: { app: "db" }, expected: 6 };
	return replayAvailability(await readTimeline(logs), database);
}

describe("npm start", options, () => {
	test("drains a node in each cluster under one budget, keeps running, and leaves nothing behind", async () => {
		await using demonstration = startDemonstration(["--keep"]);
		await demonstration.printed("Contexts:");
		// The processes that must be gone at the end: two of `npm start`, three clusters, six agents.
		const seen = process.platform === "linux" ? 2 + 3 + 3 * 2 : 0;
		expect(demonstration.processes().length).toBeGreaterThanOrEqual(seen);
		const output = demonstration.output();
		for (const name of contexts) expect(output).toMatch(new RegExp(`${name}-operator +node/${name}-n\\d drained`));
		expect(output).toContain("3 evictions of the database, and never more than 1 of 6 replicas down at any moment");
		// A pipe gets no escape sequences.
		expect(output).not.toContain("\u001b");
		const samples = await samplesOf(demonstration.temporary);
		expect(findViolations(samples, { maxUnavailable: 1 })).toEqual([]);
		expect(worstUnavailable(samples)).toBe(1);
		expect(samples.filter(({ disruption }) => disruption)).toHaveLength(3);

		const [, kubeconfig = "", bin = ""] = /export KUBECONFIG=(\S+) PATH=(\S+):\$PATH/.exec(output) ?? [];
		const [, command = ""] = /kubectl[ -]xpdb (budgets .*)/.exec(output) ?? [];
		const budgets = await run(join(bin, "kubectl-xpdb"), command.split(" "), {
			env: { ...process.env, KUBECONFIG: kubeconfig },
		});
		expect(budgets.stdout).toMatch(/^default +db +1 +6 +5 +6$/m);

		process.kill(-(demonstration.child.pid ?? 0), "SIGINT");
		expect(await demonstration.ended).toEqual({ code: 0, signal: null });
		await demonstration.vanished();
	});

	test("Ctrl-C in the middle of the drain ends everything", async () => {
		await using demonstration = startDemonstration();
		await demonstration.printed("evicting pod default/db-0");
		process.kill(-(demonstration.child.pid ?? 0), "SIGINT");
		expect(await demonstration.ended).toEqual({ code: 130, signal: null });
		await demonstration.vanished();
	});

	test("a hard kill of npm in the middle of the drain ends everything", async () => {
		await using demonstration = startDemonstration([], { throughNpm: true });
		await demonstration.printed("evicting pod default/db-0");
		demonstration.child.kill("SIGKILL");
		expect(await demonstration.ended).toEqual({ code: null, signal: "SIGKILL" });
		await demonstration.vanished();
	});

	test("Ctrl-C at the very beginning ends everything", async () => {
		await using demonstration = startDemonstration();
		await demonstration.printed("Starting three small API servers");
		process.kill(-(demonstration.child.pid ?? 0), "SIGINT");
		expect(await demonstration.ended).toEqual({ code: 130, signal: null });
		await demonstration.vanished();
	});

	test("a reader who has seen enough ends it in peace", async () => {
		await using demonstration = startDemonstration();
		await demonstration.printed("Starting three small API servers");
		demonstration.child.stdout?.destroy();
		expect(await demonstration.ended).toEqual({ code: 0, signal: null });
		await demonstration.vanished();
	});

	test("says which port is in use, and what to do", async () => {
		const occupant = createServer();
		await new Promise<void>((resolve) => occupant.listen(0, "127.0.0.1", resolve));
		const address = occupant.address();
		const port = typeof address === "object" && address ? Math.min(address.port, 65_533) : 0;
		await using demonstration = startDemonstration(["--port", String(port)]);
		expect(await demonstration.ended).toEqual({ code: 1, signal: null });
		// The ports of the other clusters may also be in use, and may be reported first.
		expect(demonstration.output()).toMatch(
			/error: Cannot start cluster "\w+": Port \d+ is in use\nChoose another with --port, or leave it out to get free ones/,
		);
		await demonstration.vanished();
		occupant.close();
	});

	test("says that it cannot write, and what to do", async () => {
		const temporary = join(tmpdir(), `xpdb-test-${randomUUID()}`, "none");
		await using demonstration = startDemonstration([], { temporary });
		expect(await demonstration.ended).toEqual({ code: 1, signal: null });
		expect(demonstration.output()).toMatch(
			/error: Cannot write to the folder ".*none": ENOENT.*\nSet TMPDIR to a folder of yours/,
		);
	});

	test("refuses what it does not know", async () => {
		await using demonstration = startDemonstration(["--kep"]);
		expect(await demonstration.ended).toEqual({ code: 1, signal: null });
		expect(demonstration.output()).toContain("Unknown argument: kep");
	});
});

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { type ManagedProcess, startProcess } from "../../demo/machine/process.ts";
import { Supervisor } from "./supervisor.ts";

function start(): ManagedProcess {
	const dir = mkdtempSync(join(tmpdir(), "xpdb-supervisor-"));
	const started = startProcess({
		name: "sleep",
		command: "sleep",
		args: ["60"],
		env: { ...process.env } as Record<string, string>,
		logFile: join(dir, "log"),
	});
	onTestFinished(async () => {
		await started.kill();
		rmSync(dir, { recursive: true });
	});
	return started;
}

test("what ends by itself is started again, however often", async () => {
	const running = start();
	const supervisor = new Supervisor();
	supervisor.watch(running);
	for (let time = 0; time < 2; time += 1) {
		const { pid } = running;
		await running.kill();
		await vi.waitFor(() => expect(running.running && running.pid !== pid).toBe(true), { timeout: 5_000 });
	}
	supervisor.release(running);
});

test("what was released stays down, and what was started anew by hand is left alone", async () => {
	const released = start();
	const again = start();
	const supervisor = new Supervisor();
	for (const each of [released, again]) supervisor.watch(each);
	supervisor.release(released);
	await Promise.all([released.kill(), again.kill()]);
	again.restart();
	const { pid } = again;
	// Longer than the supervisor waits.
	await new Promise((resolve) => {
		setTimeout(resolve, 700);
	});
	expect([released.running, again.running, again.pid]).toEqual([false, true, pid]);
	supervisor.release(again);
});

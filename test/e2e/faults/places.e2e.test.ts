// Tests full disks and unwritable folders, for the plugin and for the agents.
import { execFile } from "node:child_process";
import { rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { giveAgentsEnvironment } from "../../controlplane/faults.ts";
import { describeOnFleet, sharedFleet } from "../../controlplane/shared-fleet.ts";
import { fleetControl } from "../agents.ts";
import { createDatabase, type Database } from "../database.ts";
import { plugin } from "../plugin-process.ts";
import { findLeftBehind } from "./left-behind.ts";

/** Not even root can create a folder there. */
const nowhere = { HOME: "/proc/nowhere", TMPDIR: "/proc/nowhere" };

function evictAll({ namespace }: Database): string[] {
	const contexts = sharedFleet().contexts.map((context) => `${context}-operator`);
	return ["evict", "-l", "app=db", "-n", namespace, "--contexts", contexts.join(","), "-y", "--timeout", "4m"];
}

describeOnFleet("where nothing can be written", () => {
	test("the plugin names the folder and what to set, and touches nothing", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
		const before = await database.pods();
		const result = await plugin(evictAll(database), nowhere);
		expect(result.code).toBe(4);
		expect(result.stderr).toMatch(/\/proc\/nowhere.*TMPDIR/);
		expect(await database.pods()).toEqual(before);
		// The plugin does not need its home.
		const atHome = await plugin(evictAll(database), { HOME: nowhere.HOME });
		expect(atHome.code, atHome.stderr).toBe(0);
	});

	test("the plugin whose output is on a full disk stops as at a Ctrl-C, and says why", async () => {
		await using database = await createDatabase({ replicas: 2, budget: { maxUnavailable: 1 } });
		const { code, stderr } = await writingToFullDisk(evictAll(database));
		expect(code, stderr).toBe(2);
		expect(stderr).toMatch(/^error: cannot write the output: ENOSPC/m);
		await database.ready();
		expect((await database.samples()).filter(({ disruption }) => disruption).length).toBeLessThan(6);
		expect(await database.violations(1)).toEqual([]);
		expect(await findLeftBehind()).toEqual([]);
	});

	test("the agents serve without home, temporary folder and log", async () => {
		const agents = await fleetControl().listAgents("c1");
		for (const { logFile } of agents) {
			rmSync(logFile);
			symlinkSync("/dev/full", logFile);
		}
		const end = await giveAgentsEnvironment(fleetControl(), "c1", nowhere);
		try {
			await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
			const result = await plugin(evictAll(database));
			expect(result.code, result.stderr).toBe(0);
			await database.ready();
			expect(await database.violations(1)).toEqual([]);
		} finally {
			for (const { logFile } of agents) rmSync(logFile);
			await end();
		}
	});
});

async function writingToFullDisk(
	args: readonly string[],
): Promise<{ readonly code: unknown; readonly stderr: string }> {
	const { dir, kubeconfigPath } = sharedFleet();
	const script = ['exec "$0" "$@" > /dev/full', join(dir, "bin", "kubectl-xpdb"), ...args];
	const env = { ...process.env, KUBECONFIG: kubeconfigPath };
	return await new Promise((resolve) => {
		execFile("sh", ["-c", ...script], { env }, (error, _, stderr) => resolve({ code: error?.code ?? 0, stderr }));
	});
}

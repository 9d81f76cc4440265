// Gives agents and plugins different wrong clocks, on which no decision may depend. The control planes keep the right time.
import { readFile, stat } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { wrongClock } from "../../controlplane/clock-fault.ts";
import { type EndFault, giveAgentsEnvironment } from "../../controlplane/faults.ts";
import { describeOnFleet } from "../../controlplane/shared-fleet.ts";
import { fleetControl } from "../agents.ts";
import { createDatabase } from "../database.ts";
import { evictArgs } from "../evict-args.ts";
import { plugin } from "../plugin-process.ts";
import { findLeftBehind } from "./left-behind.ts";
import { reservationLimitMs } from "./recovery-limits.ts";
import { startRollingEvictions } from "./rolling-evictions.ts";

const agentClocks = [
	{ cluster: "c1", name: "30 s ahead", clock: wrongClock({ offsetMs: 30_000 }) },
	{
		cluster: "c2",
		name: "30 s behind, and 6 s a minute too fast",
		clock: wrongClock({ offsetMs: -30_000, rate: 1.1 }),
	},
	{
		cluster: "c3",
		name: "jumping a minute forth and back every 3 s",
		clock: wrongClock({ offsetMs: 30_000, jumpEveryMs: 3_000 }),
	},
];
const pluginClocks: Readonly<Record<string, ReturnType<typeof wrongClock>>> = {
	c1: wrongClock({ offsetMs: -30_000 }),
	c2: wrongClock({ rate: 1.5 }),
	c3: wrongClock({ offsetMs: 30_000, jumpEveryMs: 2_000 }),
};

describeOnFleet("agents and plugins with wrong clocks", () => {
	const ends: EndFault[] = [];
	beforeAll(async () => {
		ends.push(
			...(await Promise.all(
				agentClocks.map(async ({ cluster, clock }) => await giveAgentsEnvironment(fleetControl(), cluster, clock)),
			)),
		);
	});
	afterAll(async () => {
		await Promise.all(ends.map((end) => end()));
	});

	test("(their clocks are wrong indeed)", async () => {
		expect(await deviation("c1")).toBeGreaterThan(20_000);
		expect(await deviation("c2")).toBeLessThan(-10_000);
	});

	test("a grant that a killed plugin took along is over in time, and others never get too much", async () => {
		await using lost = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
		await using evictions = await startRollingEvictions({ environment: (cluster) => pluginClocks[cluster] ?? {} });
		const [first, second] = await lost.pods();
		const evict = (pod: typeof first) => evictArgs(lost, pod);
		await plugin(evict(first), { ...pluginClocks["c1"], XPDB_FAIL_POINT: "after-commit" });
		const diedAt = Date.now();
		const result = await plugin([...evict(second), "--timeout", "4m"], pluginClocks["c3"]);
		expect(result.code, result.stdout + result.stderr).toBe(0);
		const evicted = (await lost.samples()).find(({ change }) => change === "evicted");
		expect((evicted?.at ?? Number.NaN) / 1_000 - diedAt).toBeLessThan(reservationLimitMs());
		await lost.ready();
		expect(await lost.violations(1)).toEqual([]);
		expect(await evictions.finish()).toEqual([]);
		expect(await findLeftBehind()).toEqual([]);
	});
});

/** Returns by how many milliseconds an agent's clock is wrong: the last time in its log, minus the time of that write. */
async function deviation(cluster: string): Promise<number> {
	const [agent] = await fleetControl().listAgents(cluster);
	const logFile = agent?.logFile ?? "";
	const { mtimeMs } = await stat(logFile);
	const lines = (await readFile(logFile, "utf8")).trimEnd().split("\n");
	const loggedAt = lines.flatMap((line) => /"time":"([^"]+)"/.exec(line)?.[1] ?? []).at(-1) ?? "";
	return Date.parse(loggedAt) - mtimeMs;
}

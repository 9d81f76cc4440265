// Replaces all agents by a rolling update while plugins in three clusters evict under one budget.
import { expect, test } from "vitest";
import { untilAgentsReady } from "../../controlplane/faults.ts";
import { describeOnFleet, sharedFleet } from "../../controlplane/shared-fleet.ts";
import { fleetControl } from "../agents.ts";
import { eventually, kubectl } from "../kubectl.ts";
import { findLeftBehind } from "./left-behind.ts";
import { leaseLimitMs } from "./recovery-limits.ts";
import { startRollingEvictions } from "./rolling-evictions.ts";

const deployment = ["-n", "xpdb-system", "deployment/xpdb-agent"];

describeOnFleet("a rolling update of the agents", () => {
	test("in all clusters at once: evictions go on, and nothing is left behind", async () => {
		const { contexts } = sharedFleet();
		const before = await agentNames();
		await using evictions = await startRollingEvictions();
		await Promise.all(
			contexts.map(async (context) => {
				await kubectl(context, ["rollout", "restart", ...deployment]);
				await kubectl(context, ["rollout", "status", ...deployment, "--timeout=120s"]);
				await untilAgentsReady(fleetControl(), context);
			}),
		);
		expect(await evictions.nextEvictionMs()).toBeLessThan(leaseLimitMs());
		// When a rollout is complete, the last old agents may still be ending.
		await eventually("the end of all agents that were there before", async () => {
			const now = await agentNames();
			return !before.some((name) => now.includes(name));
		});
		expect(await evictions.finish()).toEqual([]);
		expect(await findLeftBehind()).toEqual([]);
	});
});

async function agentNames(): Promise<readonly string[]> {
	const lists = await Promise.all(
		sharedFleet().contexts.map(async (context) => await fleetControl().listAgents(context)),
	);
	return lists.flat().map(({ name }) => name);
}

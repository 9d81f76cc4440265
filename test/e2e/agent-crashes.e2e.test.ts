// Kills an agent at several steps of a round, freezes all agents of a cluster, or delays what one agent sees. The budget holds, and
// evictions continue as soon as each cluster has an agent that answers.
import { afterEach, expect, test } from "vitest";
import { describeOnFleet, sharedFleet } from "../controlplane/shared-fleet.ts";
import { agentNames, fleetControl, recoverAgents, restartAgent } from "./agents.ts";
import { createDatabase } from "./database.ts";
import { evictArgs } from "./evict-args.ts";
import { plugin } from "./plugin-process.ts";
import { evictedWithin, leaseMs, marginMs, reservationMs } from "./progress.ts";

describeOnFleet("an agent killed", () => {
	afterEach(recoverAgents);

	for (const step of ["after-acquire-write", "before-count", "before-commit-write", "after-commit-write"]) {
		test(`${step}: the eviction goes on with the other agent`, async () => {
			await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
			const [pod] = await database.pods();
			const context = pod?.context ?? "";
			const [host] = await agentNames(context);
			await restartAgent(context, host ?? "", { XPDB_FAIL_POINT: step });
			await evictedWithin(database, pod, reservationMs + leaseMs + marginMs);
			await database.ready();
			expect(await database.violations(1)).toEqual([]);
		});
	}

	test("all agents of one cluster down: refused, named, nothing touched; it recovers", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
		const [pod] = await database.pods();
		for (const name of await agentNames("c3")) await fleetControl().freezeAgent("c3", name);
		const refused = await plugin([...evictArgs(database, pod), "--timeout", "20s"]);
		expect(refused.code, refused.stderr).toBe(4);
		expect(refused.stderr).toContain("c3");
		expect((await database.pods()).map(({ uid }) => uid)).toContain(pod?.uid);
		await recoverAgents();
		await evictedWithin(database, pod, leaseMs + marginMs);
		expect(await database.violations(1)).toEqual([]);
	});
});

describeOnFleet("two agents, the watch of one held back", () => {
	afterEach(recoverAgents);

	test("count from what the other one has seen, not from what they see", async () => {
		// Only agents that start with this variable see pods 3 s late.
		await Promise.all(
			sharedFleet().contexts.map(async (context) => {
				const [first] = await agentNames(context);
				await restartAgent(context, first ?? "", { XPDB_HOLD_POD_EVENTS_MS: "3000" });
			}),
		);
		await using database = await createDatabase({ replicas: 2, budget: { maxUnavailable: 1 } });
		const results = await Promise.all(
			sharedFleet().contexts.map((context) =>
				plugin(["evict", "-l", "app=db", "-n", database.namespace, "--context", `${context}-operator`]),
			),
		);
		for (const result of results) expect(result.code, result.stderr).toBe(0);
		await database.ready();
		expect(await database.violations(1)).toEqual([]);
	});
});

// Every process of a round is killed or stopped at each of its steps: never too much at once, and the others get on
// within the lease time (a Lease held by the dead) or the reservation's deadline (a grant taken along by the dead).
import { afterEach, expect, test } from "vitest";
import { describeOnFleet, sharedFleet } from "../controlplane/shared-fleet.ts";
import { agentNames, fleetControl, recoverAgents, restartAgent } from "./agents.ts";
import { createDatabase, type Database, type Pod } from "./database.ts";
import { plugin, startPlugin } from "./plugin-process.ts";

const leaseMs = 10_000;
const reservationMs = 30_000;
/** Starting the plugin, a round on two busy cores, the sweep's period. */
const marginMs = 8_000;

function evictArgs(database: Database, pod: Pod | undefined): readonly string[] {
	return ["evict", pod?.name ?? "", "-n", database.namespace, "--context", `${pod?.context}-operator`];
}

async function evictedWithin(database: Database, pod: Pod | undefined, ms: number): Promise<void> {
	const startedAt = performance.now();
	const result = await plugin([...evictArgs(database, pod), "--timeout", `${Math.ceil(ms / 1000)}s`]);
	expect(result.code, result.stdout + result.stderr).toBe(0);
	expect(performance.now() - startedAt).toBeLessThan(ms);
}

describeOnFleet("a plugin killed", () => {
	const steps = [
		{ step: "after-acquire", withinMs: leaseMs },
		{ step: "after-commit", withinMs: reservationMs },
		{ step: "before-evict", withinMs: reservationMs },
		{ step: "after-evict", withinMs: leaseMs },
	];
	for (const { step, withinMs } of steps) {
		test(`${step}: another pod is evicted within ${withinMs / 1000} s`, async () => {
			await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
			const [first, second] = await database.pods();
			const killed = await plugin(evictArgs(database, first), { XPDB_FAIL_POINT: step });
			expect(killed.signal ?? killed.code).toBe("SIGKILL");
			await evictedWithin(database, second, withinMs + marginMs);
			await database.ready();
			expect(await database.violations(1)).toEqual([]);
		});
	}
});

describeOnFleet("a plugin asleep between commit and evict, past its deadline", () => {
	test("finds its reservation cancelled and evicts nothing on it", async () => {
		await using database = await createDatabase({
			replicas: 1,
			budget: { maxUnavailable: 1 },
			annotations: { "bench/ready-after": "20s", "bench/start-after": "1s" },
		});
		const [first, second] = await database.pods();
		using asleep = startPlugin([...evictArgs(database, first), "--timeout", "60s"], {
			XPDB_PAUSE_POINT: "after-commit",
		});
		await asleep.asleep();
		await evictedWithin(database, second, reservationMs + marginMs);
		// The second pod is down for 20 s more: an eviction on the old grant would make it two.
		asleep.child.kill("SIGCONT");
		const result = await asleep.finished;
		expect(result.code, result.stderr).toBe(0);
		await database.ready();
		expect(await database.violations(1)).toEqual([]);
	});
});

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
		// Every agent that starts now sees pods 3 s late; the first agent of each cluster is restarted into that.
		for (const context of sharedFleet().contexts) {
			const [first] = await agentNames(context);
			await restartAgent(context, first ?? "", { XPDB_HOLD_POD_EVENTS_MS: "3000" });
		}
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

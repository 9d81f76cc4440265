// Kills the plugin at several steps of a round, or stops it between commit and eviction. The budget holds, and other runs continue when the
// Leases or reservations of that run expire.
import { expect, test } from "vitest";
import { describeOnFleet } from "../controlplane/shared-fleet.ts";
import { createDatabase } from "./database.ts";
import { evictArgs } from "./evict-args.ts";
import { eventually } from "./kubectl.ts";
import { letNewPodsBeReady, letPodsBeReady } from "./new-pods.ts";
import { plugin, startPlugin } from "./plugin-process.ts";
import { evictedWithin, leaseMs, marginMs, reservationMs } from "./progress.ts";

// Concurrent, because the tests mostly wait. Each has its own database.
const concurrent = { concurrent: true };

describeOnFleet(
	"a plugin killed",
	() => {
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
	},
	concurrent,
);

describeOnFleet(
	"the plugin that is shipped",
	() => {
		test("has no such steps, whatever its environment says", async () => {
			await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
			const [pod] = await database.pods();
			const environment = { XPDB_FAIL_POINT: "after-commit", XPDB_PAUSE_POINT: "before-evict" };
			using evicting = startPlugin(evictArgs(database, pod), environment, { shipped: true });
			const { code, signal, stderr } = await evicting.finished;
			expect({ code, signal }, stderr).toEqual({ code: 0, signal: null });
		});
	},
	concurrent,
);

describeOnFleet(
	"a plugin asleep between commit and evict, past its deadline",
	() => {
		test("finds its reservation cancelled and evicts nothing on it", async () => {
			await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
			const [first, second] = await database.pods();
			await letNewPodsBeReady(database, false);
			using asleep = startPlugin(evictArgs(database, first, "--timeout", "2m"), {
				XPDB_PAUSE_POINT: "after-commit",
			});
			await asleep.asleep();
			await evictedWithin(database, second, reservationMs + marginMs);
			// The second pod is still down, so an eviction with the old grant would violate the budget.
			asleep.child.kill("SIGCONT");
			await asleep.printed(/has no disruption left: 2 of 3 healthy, 2 required/);
			expect((await database.pods()).map(({ uid }) => uid)).toContain(first?.uid);
			await letNewPodsBeReady(database, true);
			await eventually("the second pod to be ready", async () => {
				return (
					(await letPodsBeReady(database)) &&
					(await database.pods()).some(({ context, uid }) => {
						return context === second?.context && uid !== second.uid;
					})
				);
			});
			const result = await asleep.finished;
			expect(result.code, result.stderr).toBe(0);
			await database.ready();
			expect(await database.violations(1)).toEqual([]);
		});
	},
	concurrent,
);

// Deletes, garbles or steals Leases at critical moments. The tests are concurrent, each in its own namespace.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ApiClient } from "../../../demo/machine/api-client.ts";
import { createAdminClient, inTheAgentsName } from "../../controlplane/admin-client.ts";
import { deleteLeases, garbleLeases, stealLeases } from "../../controlplane/lease-faults.ts";
import { describeOnFleet, sharedFleet } from "../../controlplane/shared-fleet.ts";
import { createDatabase, type Database } from "../database.ts";
import { evictArgs } from "../evict-args.ts";
import { startPlugin } from "../plugin-process.ts";
import { findLeftBehind } from "./left-behind.ts";
import { leaseLimitMs } from "./recovery-limits.ts";

const actions = [
	{ name: "deleted", start: deleteLeases },
	{ name: "garbled and then deleted", start: garbleLeases },
	{ name: "stolen", start: stealLeases },
];
const moments = [
	{ name: "while a round holds them", step: "after-acquire" },
	{ name: "between grant and eviction", step: "after-commit" },
];

describeOnFleet("Leases", () => {
	let clients: readonly ApiClient[];
	beforeAll(() => {
		clients = sharedFleet().clusters.map((cluster) => createAdminClient(cluster, inTheAgentsName));
	});
	afterAll(() => {
		for (const client of clients) client.close();
	});

	async function onAll(action: typeof deleteLeases, { namespace }: Database) {
		const ends = await Promise.all(clients.map(async (client) => await action(client, namespace)));
		return async () => {
			await Promise.all(ends.map((end) => end()));
		};
	}

	for (const { name, start } of actions) {
		for (const moment of moments) {
			test.concurrent(`${name} ${moment.name}: nothing is evicted on what was lost, and soon it goes on`, async () => {
				await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
				const [first, second] = await database.pods();
				const evict = (pod: typeof first) => evictArgs(database, pod);
				using asleep = startPlugin([...evict(first), "--timeout", "4m"], { XPDB_PAUSE_POINT: moment.step });
				await asleep.asleep();
				const end = await onAll(start, database);
				// Another run meets the Leases as the fault left them.
				using other = startPlugin([...evict(second), "--timeout", "4m"]);
				asleep.child.kill("SIGCONT");
				if (start === garbleLeases) await other.printed(/cannot read Lease/);
				await end();
				const endedAt = performance.now();
				const results = await Promise.all([asleep.finished, other.finished]);
				for (const { code, stderr } of results) expect(code, stderr).toBe(0);
				expect(performance.now() - endedAt).toBeLessThan(2 * leaseLimitMs());
				await database.ready();
				expect(await database.violations(1)).toEqual([]);
			});
		}
	}

	test("none is left held, and none with a reservation", async () => {
		expect(await findLeftBehind()).toEqual([]);
	});
});

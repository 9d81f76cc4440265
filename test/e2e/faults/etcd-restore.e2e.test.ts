// Restores one cluster's etcd from a snapshot. The cluster's agents must not use what they saw between the snapshot and the restore.
import { expect, test } from "vitest";
import { createAdminClient } from "../../controlplane/admin-client.ts";
import { snapshotEtcd } from "../../controlplane/etcd-snapshot.ts";
import { describeOnFleet, sharedFleet } from "../../controlplane/shared-fleet.ts";
import { fleetControl } from "../agents.ts";
import { createDatabase } from "../database.ts";
import { kubectl } from "../kubectl.ts";
import { plugin, startPlugin } from "../plugin-process.ts";
import { findLeftBehind } from "./left-behind.ts";
import { leaseLimitMs } from "./recovery-limits.ts";

/** The controllers make fewer writes than these while they start, so resource versions after the restore repeat earlier ones. */
const writes = 1_500;

describeOnFleet("an etcd restored from an older snapshot", () => {
	test("counts by what is there now, and evictions go on", async () => {
		const cluster = sharedFleet().clusters.find(({ name }) => name === "c1");
		if (!cluster) throw new Error("There is no cluster c1");
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
		await using gone = await createDatabase({ replicas: 2, budget: { maxUnavailable: 1 } });
		const args = (context: string, { namespace } = database) => [
			"evict",
			"db-0",
			"-n",
			namespace,
			"--context",
			`${context}-operator`,
			"--timeout",
			"60s",
		];
		const evict = (context: string, from = database) => plugin(args(context, from));
		const annotate = (annotation: string) =>
			kubectl("c1", ["annotate", "pod", "db-0", "-n", database.namespace, annotation]);
		expect((await evict("c2")).code).toBe(0);
		await database.ready();

		const restore = await snapshotEtcd(fleetControl(), cluster);
		// The restore undoes what follows in c1: an eviction and its replacement, writes of Leases, and many versions.
		expect((await evict("c1", gone)).code).toBe(0);
		const api = createAdminClient(cluster);
		await Promise.all(
			Array.from({ length: 8 }, async (_, lane) => {
				for (let count = lane; count < writes; count += 8) {
					const data = { count: String(count) };
					await api.send(
						"PATCH",
						"/api/v1/namespaces/default/configmaps/kube-root-ca.crt",
						{ data },
						"application/merge-patch+json",
					);
				}
			}),
		);
		api.close();
		await restore();

		await annotate("bench/ready=false");
		await kubectl("c1", ["wait", "pod/db-0", "-n", database.namespace, "--for=condition=Ready=false", "--timeout=60s"]);
		using waiting = startPlugin(args("c2"));
		await waiting.printed(/has no disruption left: 2 of 3 healthy, 2 required/);
		waiting.child.kill("SIGINT");
		const refused = await waiting.finished;
		expect(refused.code, refused.stdout).toBe(130);
		expect(refused.stdout).not.toMatch(/ evicted$/m);
		await annotate("bench/ready-");
		await database.ready();
		// The controllers of c1 have caught up, so that the time measures only the agents.
		const askedAt = performance.now();
		const granted = await evict("c2");
		expect(granted.code, granted.stdout + granted.stderr).toBe(0);
		expect(performance.now() - askedAt, granted.stdout + granted.stderr).toBeLessThan(leaseLimitMs());
		await database.ready();
		expect(await database.violations(1)).toEqual([]);
		const again = await evict("c1", gone);
		expect(again.code, again.stdout + again.stderr).toBe(0);
		expect(await findLeftBehind()).toEqual([]);
	});
});

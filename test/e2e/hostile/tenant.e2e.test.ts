// Tests a tenant who pretends to be the agent in namespaces of two of three clusters.
// The tenant must get no call, no token and no additional disruption, and others must continue, whatever the state of the tenant's pod.
import { expect, test } from "vitest";
import { readTimeline } from "../../../demo/audit/audit.ts";
import { describeOnFleet, sharedFleet } from "../../controlplane/shared-fleet.ts";
import { createDatabase, type Database, type Pod } from "../database.ts";
import { evictArgs } from "../evict-args.ts";
import { type PluginResult, plugin } from "../plugin-process.ts";
import { startTenantAgent, type TenantAgent } from "./tenant-agent.ts";

async function evictTogether(database: Database, clusters: readonly string[]): Promise<readonly PluginResult[]> {
	const pods = await database.pods();
	const first = (cluster: string): Pod => {
		const pod = pods.find(({ context }) => context === cluster);
		if (!pod) throw new Error(`There is no pod in ${cluster}`);
		return pod;
	};
	return Promise.all(clusters.map((cluster) => plugin(evictArgs(database, first(cluster)))));
}

async function tokensOf(namespace: string): Promise<readonly string[]> {
	const events = await readTimeline(sharedFleet().clusters, { containing: namespace });
	return events
		.filter((event) => event.resource === "serviceaccounts/token" && event.namespace === namespace && event.code < 300)
		.map(({ user }) => user);
}

// Concurrent, because each test has its own database and tenants.
describeOnFleet("a tenant whose pods call themselves agents", () => {
	const states: readonly { name: string; bring: (tenant: TenantAgent) => Promise<void> }[] = [
		{ name: "ready", bring: (tenant) => tenant.setReady(true) },
		{ name: "not ready", bring: (tenant) => tenant.setReady(false) },
		{ name: "deleted", bring: (tenant) => tenant.deletePod() },
	];
	for (const { name, bring } of states) {
		test.concurrent(`gets nothing and stops nobody while they are ${name}`, async () => {
			await using here = await startTenantAgent("c1");
			await using there = await startTenantAgent("c2");
			await using database = await createDatabase({
				replicas: 1,
				budget: { maxUnavailable: 1 },
				// Long enough for two pods that are evicted together to be down at the same time.
				annotations: { "bench/ready-after": "4s" },
			});
			await Promise.all([here, there].map(bring));
			const before = (await database.pods()).map(({ uid }) => uid);
			const results = await evictTogether(database, ["c1", "c2", "c3"]);
			for (const { code, stdout, stderr } of results) {
				expect(code, stderr).toBe(0);
				expect(stdout).toMatch(/pod\/db-0 evicted/);
			}
			await database.ready();
			expect((await database.pods()).filter(({ uid }) => before.includes(uid))).toEqual([]);
			expect(await database.violations(1)).toEqual([]);
			for (const { asked, namespace } of [here, there]) {
				expect(asked).toEqual([]);
				expect(await tokensOf(namespace)).toEqual([]);
			}
		});
	}

	test.concurrent("gets no call where the agents themselves are away", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
		await using tenant = await startTenantAgent("c1");
		const result = await plugin([
			"evict",
			"db-0",
			`--namespace=${database.namespace}`,
			"--context=c1-operator",
			"--agent-namespace=nobody",
		]);
		expect(result.code).toBe(4);
		expect(result.stderr).toMatch(/no agent in namespace nobody/);
		expect(tenant.asked).toEqual([]);
		expect((await database.samples()).filter(({ disruption }) => disruption)).toEqual([]);
	});
});

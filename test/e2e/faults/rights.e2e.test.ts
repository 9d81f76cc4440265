// The operator's rights in one cluster, or the accounts behind the operator's tokens, go away in the middle of a drain of three: what
// is missing is named, what was cordoned stays so and is said, and the same command goes on when they are back.
import { afterEach, expect, test } from "vitest";
import type { ApiClient } from "../../../demo/machine/api-client.ts";
import { createAdminClient } from "../../controlplane/admin-client.ts";
import { type EndFault, untilAgentsReady } from "../../controlplane/faults.ts";
import { deleteOperatorAccount, withdrawOperatorRights } from "../../controlplane/rights-faults.ts";
import { describeOnFleet, sharedFleet } from "../../controlplane/shared-fleet.ts";
import { fleetControl } from "../agents.ts";
import { createDatabase } from "../database.ts";
import { kubectl } from "../kubectl.ts";
import { isCordoned } from "../nodes.ts";
import { type PluginResult, plugin, startPlugin } from "../plugin-process.ts";
import { findLeftBehind } from "./left-behind.ts";

const nodes = ["c1", "c2", "c3"].map((cluster) => ({ cluster, node: `${cluster}-n0` }));

type Clients = ReadonlyMap<string, ApiClient>;

async function withdrawRightsInOne(clients: Clients): Promise<EndFault> {
	const client = clients.get("c2");
	if (!client) throw new Error("There is no cluster c2");
	return await withdrawOperatorRights(client);
}

/** In all of them: agents pass calls on to one another, so that one whose own agents refuse is asked through the others. */
async function deleteAccounts(clients: Clients): Promise<EndFault> {
	const ends = await Promise.all(
		[...clients].map(async ([cluster, client]) => {
			const end = await deleteOperatorAccount(client);
			// They remember for a minute whom they let in; new ones ask at once.
			for (const { name } of await fleetControl().listAgents(cluster)) await fleetControl().killAgent(cluster, name);
			await untilAgentsReady(fleetControl(), cluster);
			return end;
		}),
	);
	return async () => {
		await Promise.all(ends.map((end) => end()));
	};
}

describeOnFleet("in the middle of a drain", () => {
	afterEach(async () => {
		for (const { cluster, node } of nodes) await kubectl(cluster, ["uncordon", node]);
	});

	const faults = [
		{
			name: "the operator's rights are withdrawn",
			start: withdrawRightsInOne,
			size: { replicas: 6, readyAfter: "2s" },
			says: /c2[^]*forbidden|forbidden[^]*c2/,
		},
		{
			name: "the accounts of the operator's tokens are deleted",
			start: deleteAccounts,
			// Enough to do for the ten seconds until the API server has noticed.
			size: { replicas: 9, readyAfter: "4s" },
			says: /Cannot accept the token in cluster/,
		},
	];
	for (const { name, start, size, says } of faults) {
		test(name, async () => {
			await using database = await createDatabase({
				replicas: size.replicas,
				budget: { maxUnavailable: 1 },
				annotations: { "bench/ready-after": size.readyAfter },
			});
			const clients = new Map(sharedFleet().clusters.map((cluster) => [cluster.name, createAdminClient(cluster)]));
			const args = ["drain", ...nodes.map(({ cluster, node }) => `${cluster}-operator/${node}`), "--ignore-daemonsets"];
			const options = [
				"--delete-emptydir-data",
				"-y",
				"--contexts",
				nodes.map(({ cluster }) => `${cluster}-operator`).join(","),
			];
			using drain = startPlugin([...args, ...options, "--timeout", "4m"]);
			await drain.printed(/pod\/\S+ evicted/);
			const end = await start(clients);
			let result: PluginResult;
			try {
				result = await drain.finished;
			} finally {
				await end();
			}
			expect(result.code, drain.output()).not.toBe(0);
			expect(result.stderr).toMatch(says);
			expect(result.stderr).not.toMatch(/internal error/);
			expect(await Promise.all(nodes.map(({ cluster, node }) => isCordoned(`${cluster}/${node}`)))).toEqual([
				true,
				true,
				true,
			]);
			expect(drain.output()).toMatch(/cordoned/);
			const again = await plugin([...args, ...options]);
			expect(again.code, again.stdout + again.stderr).toBe(0);
			await database.ready();
			expect((await database.pods()).filter(({ node }) => node.endsWith("-n0"))).toEqual([]);
			expect(await database.violations(1)).toEqual([]);
			expect(await findLeftBehind()).toEqual([]);
			for (const client of clients.values()) client.close();
		});
	}
});

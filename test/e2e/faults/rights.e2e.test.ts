// Withdraws the operator's rights, or deletes the accounts of the operator's tokens, during a drain of three clusters. The output names
// what is missing and what stays cordoned. After the repair, the same command succeeds.
import { afterEach, expect, test } from "vitest";
import type { ApiClient } from "../../../demo/machine/api-client.ts";
import { preActivityPrefix } from "../../../disruption/budget/pod.ts";
import { createAdminClient } from "../../controlplane/admin-client.ts";
import { type EndFault, untilAgentsReady } from "../../controlplane/faults.ts";
import { deleteOperatorAccount, withdrawOperatorRights } from "../../controlplane/rights-faults.ts";
import { describeOnFleet, sharedFleet } from "../../controlplane/shared-fleet.ts";
import { fleetControl } from "../agents.ts";
import { createDatabase } from "../database.ts";
import { kubectl } from "../kubectl.ts";
import { isCordoned, uncordonAll } from "../nodes.ts";
import { type PluginResult, plugin, startPlugin } from "../plugin-process.ts";
import { findLeftBehind } from "./left-behind.ts";

type Clients = ReadonlyMap<string, ApiClient>;

async function withdrawRightsInOne(clients: Clients): Promise<EndFault> {
	const client = clients.get("c2");
	if (!client) throw new Error("There is no cluster c2");
	return await withdrawOperatorRights(client);
}

/** Deletes the accounts in all clusters, because agents pass calls on to each other. */
async function deleteAccounts(clients: Clients): Promise<EndFault> {
	const ends = await Promise.all(
		[...clients].map(async ([cluster, client]) => {
			const end = await deleteOperatorAccount(client);
			// Agents cache admitted callers for a minute. Restarted agents have no cache.
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
	afterEach(uncordonAll);

	const faults = [
		{
			name: "the operator's rights are withdrawn",
			start: withdrawRightsInOne,
			says: /c2[^]*forbidden|forbidden[^]*c2/,
		},
		{
			name: "the accounts of the operator's tokens are deleted",
			start: deleteAccounts,
			says: /cannot accept the token in cluster/,
		},
	];
	for (const { name, start, says } of faults) {
		test(name, async () => {
			await using database = await createDatabase({ replicas: 3, budget: { maxUnavailable: 1 } });
			const pods = await database.pods();
			const nodes = sharedFleet().contexts.map((cluster) => ({
				cluster,
				node: pods.find(({ context }) => context === cluster)?.node ?? "",
			}));
			// The held pod keeps the drain from ending before the fault.
			const held = pods.find(({ context }) => context === "c2")?.name ?? "";
			const hold = async (value: "=true" | "-") =>
				kubectl("c2", ["annotate", "pod", held, "-n", database.namespace, `${preActivityPrefix}hold${value}`]);
			await hold("=true");
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
				await hold("-");
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
			const drained = nodes.map(({ node }) => node);
			expect((await database.pods()).filter(({ node }) => drained.includes(node))).toEqual([]);
			expect(await database.violations(1)).toEqual([]);
			expect(await findLeftBehind()).toEqual([]);
			for (const client of clients.values()) client.close();
		});
	}
});

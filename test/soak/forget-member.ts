// Makes a member leave the fleet during a soak, as an operator would. The other members forget it, and list it again at the end. The
// member's own list stays, so it still declares the old fleet.
import { setTimeout as delay } from "node:timers/promises";
import { parse } from "yaml";
import { isTransient } from "../../demo/machine/api-client.ts";
import type { RunningCluster } from "../controlplane/cluster.ts";
import type { EndFault } from "../controlplane/faults.ts";

interface FleetList {
	readonly data: { readonly members: string };
}

const path = "/api/v1/namespaces/xpdb-system/configmaps/xpdb-fleet";

export async function forgetMember(clusters: readonly RunningCluster[], name: string): Promise<EndFault> {
	const others = clusters.filter((cluster) => cluster.name !== name);
	const before = await Promise.all(
		others.map(async ({ client }) => patiently(async () => (await client.get<FleetList>(path)).data.members)),
	);
	for (const [index, { client }] of others.entries()) {
		const all = parse(before[index] ?? "") as readonly { readonly id: string; readonly name: string }[];
		const [gone, members] = [
			all.filter((member) => member.name === name),
			all.filter((member) => member.name !== name),
		];
		const data = {
			members: JSON.stringify(members),
			forgotten: JSON.stringify(gone.map(({ id }) => ({ id, name }))),
		};
		await patiently(() => write(client, data));
	}
	return async () => {
		for (const [index, { client }] of others.entries()) {
			await patiently(() => write(client, { members: before[index] ?? "", forgotten: null }));
		}
	};
}

async function write(client: RunningCluster["client"], data: Readonly<Record<string, string | null>>): Promise<void> {
	await client.send("PATCH", path, { data }, "application/merge-patch+json");
}

/** Retries while another fault affects this API server. */
async function patiently<T>(ask: () => Promise<T>): Promise<T> {
	for (;;) {
		try {
			return await ask();
		} catch (error) {
			if (!isTransient(error)) throw error;
			await delay(500);
		}
	}
}

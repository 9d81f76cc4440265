// Finds the nodes that a measurement may use, and cordons others.
import type { V1Node, V1Pod } from "@kubernetes/client-node";
import { type ApiClient, strategicMergePatch } from "../../demo/machine/api-client.ts";
import type { Bench } from "./bench.ts";

/** Returns the nodes without agents. Draining an agent would restart it, which is a different measurement. */
export async function freeNodes({ fleet }: Bench, index: number): Promise<readonly string[]> {
	const client = fleet.clusters[index]?.client;
	if (!client) throw new Error(`no cluster ${index}`);
	const agents = new Set(fleet.agents[index]?.list().map(({ name }) => name));
	const { items } = await client.get<{ items: readonly V1Pod[] }>("/api/v1/pods");
	const taken = items.filter(({ metadata }) => agents.has(metadata?.name ?? "")).map(({ spec }) => spec?.nodeName);
	return (await nodeNames(client)).filter((name) => !taken.includes(name));
}

export async function cordon(client: ApiClient, node: string, unschedulable: boolean): Promise<void> {
	await client.send("PATCH", `/api/v1/nodes/${node}`, { spec: { unschedulable } }, strategicMergePatch);
}

export async function cordonOthers(client: ApiClient, node: string): Promise<void> {
	for (const name of await nodeNames(client)) await cordon(client, name, name !== node);
}

export async function uncordonAll({ fleet }: Bench): Promise<void> {
	for (const { client } of fleet.clusters) {
		for (const name of await nodeNames(client)) await cordon(client, name, false);
	}
}

async function nodeNames(client: ApiClient): Promise<readonly string[]> {
	const { items } = await client.get<{ items: readonly V1Node[] }>("/api/v1/nodes");
	return items.map(({ metadata }) => metadata?.name ?? "");
}

import type { ApiClient } from "../../demo/machine/api-client.ts";
import type { ClusterPlace } from "./components.ts";
import { podRange } from "./components.ts";

/** Creates nodes c1-n0, c1-n1 and so on without a status. kwok makes them ready. */
export async function createNodes(client: ApiClient, place: ClusterPlace, count: number): Promise<void> {
	await Promise.all(
		Array.from({ length: count }, async (_, number) => {
			const name = `${place.name}-n${number}`;
			const range = podRange(place, { number, of: count });
			await client.send("POST", "/api/v1/nodes", {
				apiVersion: "v1",
				kind: "Node",
				metadata: {
					name,
					labels: {
						"kubernetes.io/hostname": name,
						"kubernetes.io/os": "linux",
						"kubernetes.io/arch": "amd64",
						"topology.kubernetes.io/zone": `${place.name}-z${number % 3}`,
					},
				},
				spec: { podCIDR: range, podCIDRs: [range] },
			});
		}),
	);
}

type Node = {
	spec: { taints?: { key: string }[] };
	status?: { conditions?: { type: string; status: string }[] };
};

export async function waitForNodes(client: ApiClient, count: number): Promise<boolean> {
	const { items } = await client.get<{ items: Node[] }>("/api/v1/nodes");
	const usable = items.filter(
		(node) =>
			(node.spec.taints ?? []).length === 0 &&
			node.status?.conditions?.some((condition) => condition.type === "Ready" && condition.status === "True") === true,
	);
	return usable.length === count;
}

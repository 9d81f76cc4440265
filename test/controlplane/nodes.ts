import { isStatus, isTransient } from "./api-client.ts";
import type { ApiClient } from "./api-client.ts";
import { podRange } from "./components.ts";
import type { ClusterPlace } from "./components.ts";

/** Posts nodes c1-n0, c1-n1 … without a status; kwok brings them up. */
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

/** Installs kwok's PortForward kind: with it, `pods/portforward` of a pod ends at that pod's own address. */
export async function installPortForwards(client: ApiClient): Promise<void> {
	const name = "portforwards.kwok.x-k8s.io";
	const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
	try {
		await client.send("POST", path, {
			apiVersion: "apiextensions.k8s.io/v1",
			kind: "CustomResourceDefinition",
			metadata: { name },
			spec: {
				group: "kwok.x-k8s.io",
				scope: "Namespaced",
				names: { kind: "PortForward", listKind: "PortForwardList", plural: "portforwards", singular: "portforward" },
				versions: [
					{
						name: "v1alpha1",
						served: true,
						storage: true,
						subresources: { status: {} },
						schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
					},
				],
			},
		});
	} catch (error) {
		if (!isStatus(error, 409)) {
			throw error;
		}
	}
	// kwok asks for the objects once at its start, and again only after seconds if the kind is not served yet.
	for (;;) {
		try {
			await client.get("/apis/kwok.x-k8s.io/v1alpha1/portforwards");
			return;
		} catch (error) {
			if (!isStatus(error, 404) && !isTransient(error)) {
				throw error;
			}
			await new Promise((resolve) => {
				setTimeout(resolve, 50);
			});
		}
	}
}

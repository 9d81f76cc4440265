// Sets up nodes that a drain cannot empty: each has a pod that the cluster's own budget protects.
import { createApiClient } from "../../../demo/machine/api-client.ts";
import type { TestCluster } from "../../kubernetes/test-cluster.ts";

export const stuckNodes = ["c1-n0", "c1-n1"] as const;

interface Named {
	readonly metadata: { readonly name: string };
}

function clientOf({ server, certificates }: TestCluster) {
	const { authority, pairs } = certificates;
	return createApiClient({ server, authority: authority.certificate, credentials: pairs.admin });
}

export async function fillStuckNodes(cluster: TestCluster): Promise<void> {
	const client = clientOf(cluster);
	await client.send("POST", "/apis/policy/v1/namespaces/default/poddisruptionbudgets", {
		apiVersion: "policy/v1",
		kind: "PodDisruptionBudget",
		metadata: { name: "web", namespace: "default" },
		spec: { minAvailable: 2, selector: { matchLabels: { app: "web" } } },
	});
	for (const [index, nodeName] of stuckNodes.entries()) {
		await client.send("POST", "/api/v1/namespaces/default/pods", {
			apiVersion: "v1",
			kind: "Pod",
			metadata: { name: `web-${index}`, namespace: "default", labels: { app: "web" } },
			spec: { nodeName, containers: [{ name: "web", image: "example.com/web:1" }] },
		});
	}
	client.close();
}

/** Deletes the budget, so that the pods can go. */
export async function freeNodes(cluster: TestCluster): Promise<void> {
	const client = clientOf(cluster);
	await client.send("DELETE", "/apis/policy/v1/namespaces/default/poddisruptionbudgets/web");
	client.close();
}

export async function podNames(cluster: TestCluster): Promise<readonly string[]> {
	const client = clientOf(cluster);
	const { items } = await client.get<{ readonly items: readonly Named[] }>("/api/v1/namespaces/default/pods");
	client.close();
	return items.map(({ metadata }) => metadata.name);
}

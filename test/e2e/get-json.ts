// Reads from the test clusters as the administrator, without starting a process for each read.
import type { ApiClient } from "../../demo/machine/api-client.ts";
import { createAdminClient } from "../controlplane/admin-client.ts";
import { sharedFleet } from "../controlplane/shared-fleet.ts";

const clients = new Map<string, ApiClient>();

export async function getJson<T>(context: string, path: string): Promise<T> {
	return clientOf(context).get<T>(path);
}

/** Without a namespace, the path of the pods of all namespaces. */
export function podsPath(namespace: string | undefined, query: Readonly<Record<string, string>> = {}): string {
	const folder = namespace === undefined ? "" : `namespaces/${namespace}/`;
	return `/api/v1/${folder}pods?${new URLSearchParams(query).toString()}`;
}

/** The agents keep all budgets' Leases in their own namespace. */
export function leasesPath(labelSelector = ""): string {
	return `/apis/coordination.k8s.io/v1/namespaces/xpdb-system/leases?${new URLSearchParams({ labelSelector }).toString()}`;
}

export function clientOf(context: string): ApiClient {
	const cluster = sharedFleet().clusters.find(({ name }) => name === context);
	if (!cluster) throw new Error(`no cluster "${context}"`);
	const client = clients.get(context) ?? createAdminClient(cluster);
	clients.set(context, client);
	return client;
}

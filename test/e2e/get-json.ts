// Reads from the test clusters as the administrator, without a process, because tests that wait read many times.
import type { ApiClient } from "../../demo/machine/api-client.ts";
import { createAdminClient } from "../controlplane/admin-client.ts";
import { sharedFleet } from "../controlplane/shared-fleet.ts";

const clients = new Map<string, ApiClient>();

/** Reads an object or a list by its path in the API of a context's cluster. */
export async function getJson<T>(context: string, path: string): Promise<T> {
	return clientOf(context).get<T>(path);
}

/** Returns the path of the pods of one namespace, or of all. */
export function podsPath(namespace: string | undefined, query: Readonly<Record<string, string>> = {}): string {
	const folder = namespace === undefined ? "" : `namespaces/${namespace}/`;
	return `/api/v1/${folder}pods?${new URLSearchParams(query).toString()}`;
}

/** Returns the path of the budgets' Leases, which the agents keep in their own namespace. By default of all of them. */
export function leasesPath(labelSelector = ""): string {
	return `/apis/coordination.k8s.io/v1/namespaces/xpdb-system/leases?${new URLSearchParams({ labelSelector }).toString()}`;
}

/** Returns the administrator's client for a context's cluster. */
export function clientOf(context: string): ApiClient {
	const cluster = sharedFleet().clusters.find(({ name }) => name === context);
	if (!cluster) throw new Error(`no cluster "${context}"`);
	const client = clients.get(context) ?? createAdminClient(cluster);
	clients.set(context, client);
	return client;
}

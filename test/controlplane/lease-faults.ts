// Changes the agents' Leases as an intruder with the agents' identity could, which the shipped policies do not prevent. A round that loses
// its Lease must not commit, and a grant that loses its reservation must not be used.
import type { ApiClient } from "../../demo/machine/api-client.ts";
import { isStatus } from "../../demo/machine/api-client.ts";
import type { EndFault } from "./faults.ts";

type Lease = {
	readonly metadata: { readonly name: string; readonly annotations: Record<string, string> };
	readonly spec: {
		holderIdentity?: string;
		leaseDurationSeconds?: number;
		leaseTransitions?: number;
		renewTime?: string;
	};
};

const leasesPath = "/apis/coordination.k8s.io/v1/namespaces/xpdb-system/leases";
const stateAnnotation = "xpdb.form3.tech/state";

async function leasesOf(client: ApiClient, budgetNamespace: string): Promise<readonly Lease[]> {
	const selector = encodeURIComponent(`xpdb.form3.tech/budget-namespace=${budgetNamespace}`);
	const { items } = await client.get<{ items: Lease[] }>(`${leasesPath}?labelSelector=${selector}`);
	if (items.length === 0) throw new Error(`There is no Lease of a budget in namespace "${budgetNamespace}"`);
	return items;
}

/** Agents create the deleted Leases again, so the end of the fault does nothing. */
export async function deleteLeases(client: ApiClient, budgetNamespace: string): Promise<EndFault> {
	for (const { metadata } of await leasesOf(client, budgetNamespace)) {
		await client.send("DELETE", `${leasesPath}/${metadata.name}`);
	}
	return () => Promise.resolve();
}

/** Makes the Leases unreadable. The end of the fault deletes them, as the agents' error message advises. */
export async function garbleLeases(client: ApiClient, budgetNamespace: string): Promise<EndFault> {
	const leases = await leasesOf(client, budgetNamespace);
	for (const lease of leases) {
		lease.metadata.annotations[stateAnnotation] = '{"nonce": 7';
		await client.send("PUT", `${leasesPath}/${lease.metadata.name}`, lease);
	}
	return async () => {
		for (const { metadata } of leases) {
			await client.send("DELETE", `${leasesPath}/${metadata.name}`).catch((error: unknown) => {
				if (!isStatus(error, 404)) throw error;
			});
		}
	};
}

/** Takes over the Leases under another name, even from a living holder. They expire, so the end of the fault does nothing. */
export async function stealLeases(client: ApiClient, budgetNamespace: string): Promise<EndFault> {
	for (const lease of await leasesOf(client, budgetNamespace)) {
		const state = JSON.parse(lease.metadata.annotations[stateAnnotation] ?? "{}") as Record<string, unknown>;
		lease.metadata.annotations[stateAnnotation] = JSON.stringify({ ...state, nonce: "stolen", phase: "held" });
		const transitions = (lease.spec.leaseTransitions ?? 0) + 1;
		Object.assign(lease.spec, { holderIdentity: "a thief", leaseDurationSeconds: 10, leaseTransitions: transitions });
		await client.send("PUT", `${leasesPath}/${lease.metadata.name}`, lease);
	}
	return () => Promise.resolve();
}

import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createAdminClient, type KnownCluster } from "./admin-client.ts";
import type { EndFault } from "./faults.ts";
import type { FleetControl } from "./fleet-control.ts";

/**
 * Keeps a cluster's etcd as it is now. The function that it resolves with brings the cluster back to that: it stops API server and
 * etcd, puts the data back, and starts everything again that believes to know what is in there, as a person who restores a backup
 * would. The agents are left alone: they have to find out.
 */
export async function snapshotEtcd(control: FleetControl, cluster: KnownCluster): Promise<EndFault> {
	const { name, dir } = cluster;
	const data = join(dir, "etcd");
	const kept = join(dir, "etcd-snapshot");
	// What a frozen process has written is what a killed one leaves: etcd starts from that.
	await control.freeze(name, "etcd");
	try {
		rmSync(kept, { recursive: true, force: true });
		cpSync(data, kept, { recursive: true });
	} finally {
		await control.thaw(name, "etcd");
	}
	return async () => {
		await control.kill(name, "apiserver");
		await control.kill(name, "etcd");
		rmSync(data, { recursive: true, force: true });
		cpSync(kept, data, { recursive: true });
		await control.restart(name, "etcd");
		await control.restart(name, "apiserver");
		// A kwok that starts anew is another holder, and would wait for the nodes' Leases of the one before it.
		const api = createAdminClient(cluster);
		await api.send("DELETE", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases");
		api.close();
		for (const component of ["controller-manager", "scheduler", "kwok"] as const)
			await control.restart(name, component);
	};
}

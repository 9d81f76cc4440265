import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createAdminClient, type KnownCluster } from "./admin-client.ts";
import type { EndFault } from "./faults.ts";
import type { FleetControl } from "./fleet-control.ts";

/**
 * Copies the data of a cluster's etcd. The returned function restores this data, as a person who restores a backup does. It kills the API
 * server and etcd, and puts the data back. Then it restarts every component, because all of them remember newer data. The agents keep
 * running: they must notice by themselves.
 */
export async function snapshotEtcd(control: FleetControl, cluster: KnownCluster): Promise<EndFault> {
	const { name, dir } = cluster;
	const data = join(dir, "etcd");
	const kept = join(dir, "etcd-snapshot");
	// While etcd is frozen, its files are like those of a killed etcd, and etcd can start from these.
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
		// A restarted kwok has a new name as a holder, and would wait until the nodes' Leases of the old one expire.
		const api = createAdminClient(cluster);
		await api.send("DELETE", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases");
		api.close();
		for (const component of ["controller-manager", "scheduler", "kwok"] as const)
			await control.restart(name, component);
	};
}

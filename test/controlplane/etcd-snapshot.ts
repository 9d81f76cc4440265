import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createAdminClient, type KnownCluster } from "./admin-client.ts";
import type { EndFault } from "./faults.ts";
import type { FleetControl } from "./fleet-control.ts";

/**
 * Copies the data of a cluster's etcd. The returned function restores it as a backup would: it restarts the control plane on the old data,
 * while the agents keep running.
 */
export async function snapshotEtcd(control: FleetControl, cluster: KnownCluster): Promise<EndFault> {
	const { name, dir } = cluster;
	const data = join(dir, "etcd");
	const kept = join(dir, "etcd-snapshot");
	// A frozen etcd's files are like those of a killed one, from which etcd can start.
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
		// A restarted kwok has a new holder name, so it would wait until the nodes' old Leases expire.
		const api = createAdminClient(cluster);
		await api.send("DELETE", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases");
		api.close();
		for (const component of ["controller-manager", "scheduler", "kwok"] as const)
			await control.restart(name, component);
	};
}

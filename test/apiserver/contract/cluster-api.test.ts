import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { clusterApiContract } from "../../agent/cluster-api-contract.ts";
import { createRealWorld } from "../../agent/real-contract-world.ts";
import { writeKubeconfig } from "../../controlplane/kubeconfig.ts";
import { startSmallCluster } from "../small-cluster.ts";

// The agent's own code against the small API server, by the same table as against a real one (kubernetes.e2e.test.ts).
clusterApiContract("the small API server", async () => {
	const dir = mkdtempSync(join(tmpdir(), "xpdb-small-"));
	const cluster = await startSmallCluster({ name: "c1", dir, dialPod: () => undefined });
	const kubeconfig = join(dir, "kubeconfig");
	writeKubeconfig(kubeconfig, [
		{
			context: "c1",
			cluster: "c1",
			server: cluster.server,
			authority: cluster.certificates.authority.certificate,
			user: "admin",
			credentials: cluster.certificates.pairs.admin,
		},
	]);
	const world = await createRealWorld({ kubeconfig, context: "c1" });
	return {
		...world,
		async close() {
			await world.close();
			await cluster.stop();
			rmSync(dir, { recursive: true, force: true });
		},
	};
});

import { clusterApiContract } from "../agent/cluster-api/cluster-api-contract.ts";
import { createRealWorld } from "../agent/cluster-api/real-contract-world.ts";
import { startTestCluster } from "./test-cluster.ts";

// Tests the agent's own code against the small API server. test/agent/cluster-api/create-cluster-api.e2e.test.ts runs the same tests
// against real ones.
clusterApiContract("the small API server", async () => {
	const cluster = await startTestCluster();
	const world = await createRealWorld({ kubeconfig: cluster.kubeconfig, context: "c1" });
	return {
		...world,
		async close() {
			await world.close();
			await cluster.stop();
		},
	};
});

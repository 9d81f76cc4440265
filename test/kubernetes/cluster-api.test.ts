import { clusterApiContract } from "../agent/cluster-api/cluster-api-contract.ts";
import { createRealWorld } from "../agent/cluster-api/real-contract-world.ts";
import { startTestCluster } from "./test-cluster.ts";

// Runs the agent's own code against the small API server, with the same tests as against a real one
// (test/agent/cluster-api/create-cluster-api.e2e.test.ts).
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

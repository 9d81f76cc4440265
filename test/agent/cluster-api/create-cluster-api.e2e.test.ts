import { describeOnFleet, sharedFleet } from "../../controlplane/shared-fleet.ts";
import { clusterApiContract } from "./cluster-api-contract.ts";
import { createRealWorld } from "./real-contract-world.ts";

describeOnFleet("a real API server", () => {
	clusterApiContract("Kubernetes", () => {
		const { kubeconfigPath, contexts } = sharedFleet();
		return createRealWorld({ kubeconfig: kubeconfigPath, context: contexts[0] ?? "" });
	});
});

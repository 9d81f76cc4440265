// Builds a cluster as an installation finds it. By default, nothing is installed there.
import type { FoundCluster } from "../../plugin/install/found-cluster.ts";
import type { KubeContext } from "../../plugin/kubernetes/kube-context.ts";

export function newFoundCluster(context: KubeContext, changes: Partial<FoundCluster> = {}): FoundCluster {
	return {
		context,
		id: `id-${context.name}`,
		fleet: undefined,
		image: undefined,
		agentSettings: {},
		operators: [],
		teams: [],
		peers: undefined,
		...changes,
	};
}

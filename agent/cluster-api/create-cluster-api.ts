// Implements ClusterApi with the real API server.
//
// Guarantee: consistent reads are GETs by name or lists without resourceVersion, which Kubernetes answers from etcd or from a cache that
// has caught up with etcd. Every update or deletion of a Lease names the version that it was derived from, and every write to a pod names
// its uid. Any unexpected answer rejects.
import { type ApiAsker, type AskOptions, createApiAsker } from "../kubernetes/api-asker.ts";
import type { ApiConnection } from "../kubernetes/api-connection.ts";
import { createDiscovery } from "../kubernetes/discovery.ts";
import { objectMeta } from "../kubernetes/kubernetes-objects.ts";
import type { Clock } from "../process/clock.ts";
import { systemClock } from "../process/system-clock.ts";
import { createBudgetCalls } from "./budget-calls.ts";
import type { ClusterApi } from "./cluster-api.ts";
import { getScale } from "./controller-scale.ts";
import { createFleetCalls } from "./fleet-calls.ts";
import { createLeaseCalls } from "./lease-calls.ts";
import { createPodCalls } from "./pod-calls.ts";
import { createPodProjection } from "./pod-projection.ts";
import { createWorkloadCalls } from "./workload-calls.ts";

export interface ClusterApiOptions {
	readonly leaseNamespace: string;
	readonly fleetConfigMap: string;
	readonly fleetNamespace: string;
	readonly clock?: Pick<Clock, "now">;
}

/** Rejects if the cluster's id cannot be read. */
export async function createClusterApi(connection: ApiConnection, options: ClusterApiOptions): Promise<ClusterApi> {
	const asker = createApiAsker(connection);
	const { clock = systemClock } = options;
	const discovery = createDiscovery(asker, clock);
	return {
		clusterId: await readClusterId(asker),
		connection: () => (connection.connected ? connection.session : undefined),
		...createLeaseCalls(asker, options.leaseNamespace),
		...createBudgetCalls(asker),
		...createFleetCalls(asker, options),
		...createPodCalls(asker, createPodProjection()),
		...createWorkloadCalls(asker),
		getScale: (controller, namespace) => getScale(controller, namespace, { asker, discovery }),
	};
}

async function readClusterId(asker: ApiAsker): Promise<string> {
	const question: AskOptions = {
		method: "GET",
		path: "/api/v1/namespaces/kube-system",
		what: "read the cluster's id",
		verb: "get",
		resource: "namespaces",
		group: "",
	};
	const answer = await asker.ask(question);
	return asker.read(question, () => objectMeta(answer.body).uid);
}

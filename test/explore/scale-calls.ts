// Reads scales as an agent does: with the shipped code and its discovery, over the simulated network.
import type { ClusterApi } from "../../agent/cluster-api/cluster-api.ts";
import { getScale } from "../../agent/cluster-api/controller-scale.ts";
import { createApiAsker } from "../../agent/kubernetes/api-asker.ts";
import type { ApiConnection } from "../../agent/kubernetes/api-connection.ts";
import { createDiscovery } from "../../agent/kubernetes/discovery.ts";
import type { SeenVersions } from "../../agent/kubernetes/seen-versions.ts";
import type { Clock } from "../../agent/process/clock.ts";
import type { Carrier } from "./simulated-api.ts";
import type { SimulatedApiServer } from "./simulated-api-server.ts";
import { answerTo } from "./simulated-kinds.ts";

export interface ScaleCallsOptions {
	readonly server: SimulatedApiServer;
	readonly carry: Carrier;
	readonly clock: Pick<Clock, "now">;
	readonly versions: SeenVersions;
}

export function createScaleCalls({ server, carry, clock, versions }: ScaleCallsOptions): Pick<ClusterApi, "getScale"> {
	const connection: ApiConnection = {
		cluster: server.clusterId,
		versions,
		silentMs: 0,
		session: 1,
		connected: true,
		request: ({ path }) =>
			carry({ verb: "get", resource: "scales", name: path, execute: () => answerTo(server, path) }),
		stream: async () => {
			throw new Error("nobody watches scales");
		},
		close: () => undefined,
	};
	const asker = createApiAsker(connection);
	const discovery = createDiscovery(asker, clock);
	return { getScale: (controller, namespace) => getScale(controller, namespace, { asker, discovery }) };
}

// Puts proxies in front of the API servers of the shared fleet during a test.
import { type ApiProxy, startApiProxy } from "../../controlplane/api-proxy.ts";
import { sharedFleet } from "../../controlplane/shared-fleet.ts";
import { fleetControl } from "../agents.ts";

const proxyPort = 7500;

export interface ApiProxies extends AsyncDisposable {
	readonly byCluster: ReadonlyMap<string, ApiProxy>;
}

/** Sends the traffic of these links, one to each cluster, through proxies. */
export async function startApiProxies(linkTo: (cluster: string) => string): Promise<ApiProxies> {
	const byCluster = new Map<string, ApiProxy>();
	for (const cluster of sharedFleet().clusters) {
		const endpoint = { host: new URL(cluster.server).hostname, port: proxyPort };
		byCluster.set(cluster.name, await startApiProxy(cluster, endpoint));
		await fleetControl().setLink(linkTo(cluster.name), { via: endpoint });
		await fleetControl().resetLink(linkTo(cluster.name));
	}
	return {
		byCluster,
		async [Symbol.asyncDispose]() {
			for (const [cluster, proxy] of byCluster) {
				await fleetControl().setLink(linkTo(cluster), {});
				await fleetControl().resetLink(linkTo(cluster));
				await proxy.close();
			}
		},
	};
}

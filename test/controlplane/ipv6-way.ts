// Reaches a real cluster and its agents at ::1. The programs of the cluster keep their own addresses, because they have fixed ports and
// there is only one IPv6 loopback address.
import { startLoadBalancer } from "../../demo/agents/load-balancer.ts";
import type { PodNetwork } from "../../demo/agents/pod-network.ts";
import { LoopbackNetwork } from "../../demo/loopback-network.ts";
import type { ApiClient } from "../../demo/machine/api-client.ts";
import { hostPort } from "../../demo/machine/endpoint.ts";
import type { RunningCluster } from "./cluster.ts";
import { apiserverPort } from "./components.ts";
import { forwardPorts } from "./port-forwards.ts";

export interface WayToCluster {
	/** The API server's URL. */
	readonly server: string;
	network(client: ApiClient): PodNetwork;
	close(): Promise<void>;
}

const address = "::1";

export async function openIpv6Way(cluster: Pick<RunningCluster, "address">): Promise<WayToCluster> {
	const proxy = await startLoadBalancer({
		address,
		listeners: [{ port: 0, targets: () => [{ host: cluster.address, port: apiserverPort }] }],
	});
	const [port = 0] = proxy.ports;
	return {
		server: `https://${hostPort({ host: address, port })}`,
		network(client) {
			const network = new LoopbackNetwork(address).for(client);
			return {
				...network,
				async forward(pod, host, ports) {
					await Promise.all([network.forward(pod, host, ports), forwardPorts(client, pod, host, ports)]);
				},
			};
		},
		close: () => proxy.close(),
	};
}

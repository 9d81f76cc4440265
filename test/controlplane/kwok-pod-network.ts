import { shippedPorts } from "../../demo/agents/agent-command.ts";
import type { PodNetwork } from "../../demo/agents/pod-network.ts";
import type { ApiClient } from "../../demo/machine/api-client.ts";
import type { ClusterPlace } from "./components.ts";
import { forwardPorts } from "./port-forwards.ts";

/** Gives each pod its own address, which the API server reaches through kwok. */
export function createPodNetwork(
	client: ApiClient,
	cluster: Pick<ClusterPlace, "index" | "address" | "name"> & { readonly octet: number },
): PodNetwork {
	const addresses = createAddresses(cluster);
	return {
		takeAddress: () => addresses.take(),
		giveAddress: (address) => addresses.give(address),
		ports: async () => shippedPorts,
		forward: (pod, address) => forwardPorts(client, pod, address),
		service: { address: cluster.address, grpc: shippedPorts.grpc, peers: shippedPorts.peers },
	};
}

/** Gives addresses in turn, so that a replacement does not get the address of the pod that it replaces. */
function createAddresses(cluster: { readonly octet: number; readonly index: number; readonly name: string }) {
	const first = 10;
	const last = 250;
	const taken = new Set<string>();
	let next = first;
	return {
		take(): string {
			for (let tries = first; tries <= last; tries++) {
				const address = `127.${cluster.octet}.${cluster.index}.${next}`;
				next = next === last ? first : next + 1;
				if (!taken.has(address)) {
					taken.add(address);
					return address;
				}
			}
			throw new Error(`Cannot give an address to a pod: all ${taken.size} of ${cluster.name} are taken`);
		},
		give(address: string): void {
			taken.delete(address);
		},
	};
}

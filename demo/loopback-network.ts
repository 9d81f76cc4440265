// The agents' network on one loopback address, by default that of IPv4. Each process has its own ports, so no further address is needed.
import { type AddressInfo, createServer } from "node:net";
import { peerAddressAnnotation } from "../proto/peer-address.ts";
import { type AgentPodObject, type AgentPorts, shippedPorts } from "./agents/agent-command.ts";
import type { PodNetwork } from "./agents/pod-network.ts";
import type { ApiObject } from "./apiserver/api-object.ts";
import { type ApiClient, strategicMergePatch } from "./machine/api-client.ts";
import { type Endpoint, hostPort } from "./machine/endpoint.ts";

export class LoopbackNetwork {
	readonly #address: string;
	/** By the pod's UID. */
	readonly #ports = new Map<string, AgentPorts>();

	constructor(address = "127.0.0.1") {
		this.#address = address;
	}

	/** Returns the real address of a pod's port. Undefined if nothing listens there. */
	dial(pod: ApiObject, port: number): Endpoint | undefined {
		const ports = this.#ports.get(pod.metadata.uid);
		const name = (["grpc", "peers", "http"] as const).find((each) => shippedPorts[each] === port);
		return ports && name ? { host: this.#address, port: ports[name] } : undefined;
	}

	for(client: ApiClient): PodNetwork {
		const address = this.#address;
		return {
			takeAddress: () => address,
			giveAddress: () => undefined,
			async ports() {
				const [grpc = 0, peers = 0, http = 0] = await freePorts(3, address);
				return { grpc, peers, http };
			},
			forward: async (pod, _address, ports) => {
				this.#ports.set(pod.metadata.uid, ports);
				await announce(client, pod, hostPort({ host: address, port: ports.peers }));
			},
			service: { address, grpc: 0, peers: 0 },
		};
	}
}

/** Annotates the pod with its peer port. Other replicas would otherwise dial port 8444 of the address that all pods share. */
async function announce(client: ApiClient, { metadata }: AgentPodObject, peerAddress: string): Promise<void> {
	const { namespace, name, uid } = metadata;
	const annotations = { [peerAddressAnnotation]: peerAddress };
	const body = { metadata: { uid, annotations } };
	await client.send("PATCH", `/api/v1/namespaces/${namespace}/pods/${name}`, body, strategicMergePatch);
}

/** Opens all ports at once, so that they differ, and then frees them. */
async function freePorts(count: number, address: string): Promise<number[]> {
	const servers = await Promise.all(
		Array.from({ length: count }, async () => {
			const server = createServer();
			await new Promise<void>((resolve, reject) => {
				server.once("error", reject);
				server.listen(0, address, resolve);
			});
			return server;
		}),
	);
	const ports = servers.map((server) => (server.address() as AddressInfo).port);
	await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
	return ports;
}

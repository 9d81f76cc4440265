import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ApiClient, createApiClient, follow } from "../machine/api-client.ts";
import type { IssuedCertificates, KeyPair } from "../machine/certificates.ts";
import { type Endpoint, hostPort } from "../machine/endpoint.ts";
import { writeKeyPair } from "../machine/key-pairs.ts";
import type { AgentPodObject, AgentPorts } from "./agent-command.ts";
import type { AgentHost, AgentPod } from "./agent-pod.ts";
import { runAgentPod } from "./agent-pod.ts";
import { startLoadBalancer } from "./load-balancer.ts";
import type { PodNetwork } from "./pod-network.ts";

export const agentLabel = "app.kubernetes.io/name=xpdb-agent";

/** The agents of one cluster. Methods identify pods by name, so names must be unique. */
export type AgentPods = {
	list(): readonly AgentPod[];
	/** The Service's address, for example "127.10.1.1:8443". */
	readonly address: string;
	/** The Service's address for agents of other clusters. */
	readonly peerAddress: string;
	kill(pod: string): Promise<void>;
	freeze(pod: string): void;
	thaw(pod: string): void;
	/** Affects only processes that start after the call. */
	setEnvironment(environment: Readonly<Record<string, string>>): void;
	/** While off, processes that die are not restarted. */
	setRestarts(on: boolean): void;
	/** Replaces the certificate files, as a kubelet does after a Secret changed. */
	setCertificate(pair: KeyPair): void;
	stop(): Promise<void>;
};

export type HostingCluster = {
	readonly name: string;
	readonly dir: string;
	readonly server: string;
	readonly certificates: {
		readonly authority: IssuedCertificates["authority"];
		readonly pairs: Pick<IssuedCertificates["pairs"], "kwok">;
	};
	network(client: ApiClient): PodNetwork;
};

export async function startAgentPods(options: {
	readonly cluster: HostingCluster;
	/** Omit it if setCertificate() follows before the first pod exists. */
	readonly agentPair?: KeyPair;
	readonly fleetCertificate: string;
	readonly program: string;
	readonly environment?: Readonly<Record<string, string>>;
	/** Where agents reach their API server. By default, the cluster's own address. */
	readonly apiServer?: Endpoint;
	readonly namespace?: string;
}): Promise<AgentPods> {
	const { cluster } = options;
	const dir = join(cluster.dir, "agents");
	mkdirSync(dir, { recursive: true, mode: 0o700 });
	if (options.agentPair) writeKeyPair(dir, "tls", options.agentPair);
	writeFileSync(join(dir, "fleet-ca.crt"), options.fleetCertificate);
	const authority = cluster.certificates.authority.certificate;
	const client = createApiClient({ server: cluster.server, authority, credentials: cluster.certificates.pairs.kwok });
	const network = cluster.network(client);
	const host: AgentHost = {
		client,
		network,
		server: options.apiServer === undefined ? cluster.server : `https://${hostPort(options.apiServer)}`,
		authority,
		hostIp: network.service.address,
		program: options.program,
		dir,
		certificate: join(dir, "tls.crt"),
		key: join(dir, "tls.key"),
		clientAuthority: join(dir, "fleet-ca.crt"),
		environment: options.environment ?? {},
		restarts: true,
	};
	const pods = new Map<string, AgentPod>();
	const abort = new AbortController();

	function see(object: AgentPodObject): void {
		const known = pods.get(object.metadata.uid);
		if (known !== undefined) {
			known.update(object);
			return;
		}
		if (object.spec.nodeName === undefined || abort.signal.aborted) {
			return;
		}
		const pod = runAgentPod(object, network.takeAddress(), host);
		pod.update(object);
		pods.set(pod.uid, pod);
		void pod.done.then(() => {
			pods.delete(pod.uid);
			network.giveAddress(pod.ip);
		});
	}

	const following = follow<AgentPodObject>({
		client,
		// A test with agents in another namespace calls startAgentPods() once more for it.
		path: `/api/v1/namespaces/${options.namespace ?? "xpdb-system"}/pods?labelSelector=${encodeURIComponent(agentLabel)}`,
		signal: abort.signal,
		onList(objects) {
			const alive = new Set(objects.map((object) => object.metadata.uid));
			for (const pod of pods.values()) {
				if (!alive.has(pod.uid)) {
					pod.abandon();
				}
			}
			objects.forEach(see);
		},
		onEvent({ type, object }) {
			if (type === "DELETED") {
				pods.get(object.metadata.uid)?.abandon();
			} else {
				see(object);
			}
		},
	});
	const ready = (port: keyof AgentPorts) => () =>
		[...pods.values()].flatMap(({ ready, ip, ports }) => (ready && ports ? [{ host: ip, port: ports[port] }] : []));
	const { address } = network.service;
	const balancer = await startLoadBalancer({
		address,
		listeners: [
			{ port: network.service.grpc, targets: ready("grpc") },
			{ port: network.service.peers, targets: ready("peers") },
		],
	});
	const [grpcPort = 0, peerPort = 0] = balancer.ports;

	const findProcess = (name: string) => [...pods.values()].find((candidate) => candidate.name === name)?.process;

	function processOf(name: string) {
		const process = findProcess(name);
		if (process === undefined) {
			throw new Error(
				`No process of an agent pod "${name}" in ${cluster.name}: there are ${[...pods.values()].map((candidate) => candidate.name).join(", ")}`,
			);
		}
		return process;
	}

	return {
		list: () => [...pods.values()],
		address: hostPort({ host: address, port: grpcPort }),
		peerAddress: hostPort({ host: address, port: peerPort }),
		kill: (pod) => processOf(pod).kill(),
		freeze: (pod) => processOf(pod).freeze(),
		// A frozen process may have been killed or evicted meanwhile.
		thaw: (pod) => findProcess(pod)?.thaw(),
		setEnvironment(environment) {
			host.environment = environment;
		},
		setRestarts(on) {
			host.restarts = on;
		},
		setCertificate: (pair) => writeKeyPair(dir, "tls", pair),
		async stop() {
			abort.abort();
			host.restarts = false;
			await balancer.close();
			// The cluster stops next, so pod objects can stay. Each process gets time to shut down.
			await Promise.all([...pods.values()].map(async (pod) => await pod.process?.stop()));
			const ends = [...pods.values()].map((pod) => {
				pod.abandon();
				return pod.done;
			});
			await Promise.all([...ends, following]);
			client.close();
		},
	};
}

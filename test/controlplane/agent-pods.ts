import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runAgentPod } from "./agent-pod.ts";
import type { AgentHost, AgentPod } from "./agent-pod.ts";
import type { AgentPodObject } from "./agent-command.ts";
import { createApiClient, follow } from "./api-client.ts";
import { writeKeyPair } from "./certificates.ts";
import type { KeyPair } from "./certificates.ts";
import type { RunningCluster } from "./cluster.ts";
import type { Endpoint } from "./link-proxy.ts";
import { startLoadBalancer } from "./load-balancer.ts";

export const agentLabel = "app.kubernetes.io/name=xpdb-agent";

/** The agents of one cluster, and the hands that tests lay on them. Pods are named by their name; none may be named twice. */
export type AgentPods = {
	list(): readonly AgentPod[];
	/** Where callers of the Service come in: "127.10.1.1:8443" for clients, port 8444 for peers. */
	readonly address: string;
	kill(pod: string): Promise<void>;
	freeze(pod: string): void;
	thaw(pod: string): void;
	/** For processes that start from now on. */
	setEnvironment(environment: Readonly<Record<string, string>>): void;
	/** Off: what dies stays dead. */
	setRestarts(on: boolean): void;
	stop(): Promise<void>;
};

export async function startAgentPods(options: {
	readonly cluster: RunningCluster;
	readonly agentPair: KeyPair;
	readonly fleetCertificate: string;
	readonly program: string;
	readonly environment?: Readonly<Record<string, string>>;
	/** Where the agents reach their API server, if not at its own address. */
	readonly apiServer?: Endpoint;
}): Promise<AgentPods> {
	const { cluster } = options;
	const dir = join(cluster.dir, "agents");
	mkdirSync(dir, { recursive: true, mode: 0o700 });
	writeKeyPair(dir, "tls", options.agentPair);
	writeFileSync(join(dir, "fleet-ca.crt"), options.fleetCertificate);
	const authority = cluster.certificates.authority.certificate;
	const client = createApiClient({ server: cluster.server, authority, credentials: cluster.certificates.pairs.kwok });
	const host: AgentHost = {
		client,
		server:
			options.apiServer === undefined ? cluster.server : `https://${options.apiServer.host}:${options.apiServer.port}`,
		authority,
		hostIp: cluster.address,
		program: options.program,
		dir,
		certificate: join(dir, "tls.crt"),
		key: join(dir, "tls.key"),
		clientAuthority: join(dir, "fleet-ca.crt"),
		environment: options.environment ?? {},
		restarts: true,
	};
	const pods = new Map<string, AgentPod>();
	const addresses = createAddresses(cluster);
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
		const pod = runAgentPod(object, addresses.take(), host);
		pod.update(object);
		pods.set(pod.uid, pod);
		void pod.done.then(() => {
			pods.delete(pod.uid);
			addresses.give(pod.ip);
		});
	}

	const following = follow<AgentPodObject>({
		client,
		path: `/api/v1/pods?labelSelector=${encodeURIComponent(agentLabel)}`,
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
	const balancer = await startLoadBalancer({
		address: cluster.address,
		ports: [8443, 8444],
		targets: () => [...pods.values()].filter((pod) => pod.ready).map((pod) => pod.ip),
	});

	function processOf(name: string) {
		const pod = [...pods.values()].find((candidate) => candidate.name === name);
		if (pod?.process === undefined) {
			throw new Error(
				`No process of an agent pod "${name}" in ${cluster.name}: there are ${[...pods.values()].map((candidate) => candidate.name).join(", ")}`,
			);
		}
		return pod.process;
	}

	return {
		list: () => [...pods.values()],
		address: `${cluster.address}:8443`,
		kill: (pod) => processOf(pod).kill(),
		freeze: (pod) => processOf(pod).freeze(),
		thaw: (pod) => processOf(pod).thaw(),
		setEnvironment(environment) {
			host.environment = environment;
		},
		setRestarts(on) {
			host.restarts = on;
		},
		async stop() {
			abort.abort();
			host.restarts = false;
			await balancer.close();
			// The cluster ends next, so nobody waits for objects to go; processes get a moment to close what they hold.
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

/** Pod addresses 127.<octet>.<index>.10 and on, in turn, so that a successor does not get the address of the one just gone. */
function createAddresses(cluster: RunningCluster) {
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

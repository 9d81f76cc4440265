// Plays an agent of one member that calls another member's peer port with its own certificate.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { KeyPair } from "../../../demo/machine/key-pairs.ts";
import { parseLabelSelector } from "../../../disruption/budget/selector.ts";
import { agentServerName, createAgentClient } from "../../../proto/credentials.ts";
import { RemoteCluster } from "../../../proto/remote-cluster.ts";
import { peerPort } from "../../controlplane/links.ts";
import { type SharedFleet, sharedFleet } from "../../controlplane/shared-fleet.ts";

export type Cluster = SharedFleet["clusters"][number];

export function clusterOf(name: string): Cluster {
	const cluster = sharedFleet().clusters.find((each) => each.name === name);
	if (!cluster) throw new Error(`There is no cluster "${name}"`);
	return cluster;
}

/** Returns the path of a file that replaces a mounted Secret or ConfigMap of the cluster's agents. */
export function agentFile(cluster: Cluster, file: "tls.crt" | "tls.key" | "fleet-ca.crt"): string {
	return join(cluster.dir, "agents", file);
}

/** Returns what an attacker gets who can read the agents' Secret. */
export function pairOf(cluster: Cluster): KeyPair {
	const read = (file: "tls.crt" | "tls.key") => readFileSync(agentFile(cluster, file), "utf8");
	return { certificate: read("tls.crt"), key: read("tls.key") };
}

export function peerAddressOf(cluster: Cluster): string {
	return `${new URL(cluster.server).hostname}:${peerPort}`;
}

export function dialPeer(to: Cluster, pair: KeyPair): { readonly peer: RemoteCluster } & Disposable {
	const client = createAgentClient({
		address: peerAddressOf(to),
		serverName: agentServerName("xpdb-system"),
		ca: readFileSync(agentFile(to, "fleet-ca.crt"), "utf8"),
		identity: { kind: "certificate", certificate: pair.certificate, privateKey: pair.key },
		member: to.id,
	});
	return {
		peer: new RemoteCluster({ id: to.id, name: to.name, client }),
		[Symbol.dispose]: () => client.close(),
	};
}

/** Returns a request for the Lease of a test database's budget. */
export function acquireRequestFor(namespace: string, nonce: string) {
	const selector = parseLabelSelector({ matchLabels: { app: "db" } }, "selector");
	return { budget: { namespace, name: "db" }, selector, holder: "hostile", nonce, candidates: [] };
}

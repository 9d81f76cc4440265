// Messages between the process of a cluster and the process that started it.
import type { PodTimes } from "./apiserver/controllers/kubelet.ts";
import type { IssuedCertificates } from "./machine/certificates.ts";
import type { KeyPair } from "./machine/key-pairs.ts";

/** The first message: what to start. It carries the private keys, because other users could read command-line arguments. */
export interface StartMessage {
	readonly kind: "start";
	readonly name: string;
	readonly dir: string;
	readonly port: number;
	readonly nodes: number;
	readonly times: PodTimes;
	readonly program: string;
	readonly certificates: IssuedCertificates;
	readonly fleetCertificate: string;
	readonly environment: Readonly<Record<string, string>>;
}

/** The second message, once all clusters are known: installs the agents and the database. */
export interface InstallMessage {
	readonly kind: "install";
	readonly members: readonly { readonly id: string; readonly name: string; readonly address: string }[];
	/** Sent only now, because the certificate names the cluster's ID. */
	readonly agentPair: KeyPair;
}

export type ToCluster = StartMessage | InstallMessage | { readonly kind: "stop" };

export type FromCluster =
	| {
			readonly kind: "started";
			readonly server: string;
			readonly id: string;
			readonly peerAddress: string;
			readonly auditLog: string;
	  }
	| { readonly kind: "failed"; readonly message: string; readonly hint: string | undefined }
	| {
			readonly kind: "pod";
			readonly name: string;
			readonly labels: Readonly<Record<string, string>>;
			readonly node: string;
			readonly healthy: boolean;
	  };

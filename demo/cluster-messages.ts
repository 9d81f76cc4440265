// What a cluster's process and the process that started it tell each other.
import type { PodTimes } from "./apiserver/controllers/kubelet.ts";
import type { IssuedCertificates } from "./machine/certificates.ts";
import type { KeyPair } from "./machine/key-pairs.ts";

/** First of all: what to start. Keys are told here because arguments and files are seen by others. */
export interface StartMessage {
	readonly kind: "start";
	readonly name: string;
	readonly dir: string;
	readonly port: number;
	readonly nodes: number;
	readonly times: PodTimes;
	/** The built agent. */
	readonly program: string;
	readonly certificates: IssuedCertificates;
	readonly fleetCertificate: string;
	readonly environment: Readonly<Record<string, string>>;
}

/** All clusters are known: install the agents, and what the demonstration is about. */
export interface InstallMessage {
	readonly kind: "install";
	readonly members: readonly { readonly id: string; readonly name: string; readonly address: string }[];
	/** It names the cluster's id, which is known only now. */
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
	/** A pod became healthy, or is healthy no more; agents and others alike. */
	| {
			readonly kind: "pod";
			readonly name: string;
			readonly labels: Readonly<Record<string, string>>;
			readonly node: string;
			readonly healthy: boolean;
	  };

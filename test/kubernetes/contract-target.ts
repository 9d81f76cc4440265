import type { KeyPair } from "../../demo/machine/certificates.ts";

/** An API server that the contract is held against, with the agents' manifests applied. */
export interface ContractTarget {
	readonly server: string;
	/** It is of the oldest Kubernetes that is supported. */
	readonly isOldest?: boolean;
	readonly authority: string;
	/** Of group system:masters. */
	readonly admin: KeyPair;
	/** Alice, of group xpdb-operators. */
	readonly operator: KeyPair;
	/** Until resume: no controller does anything. */
	pauseControllers(): Promise<void>;
	resumeControllers(): Promise<void>;
	/** Forgets all writes up to now. */
	compact(): Promise<void>;
	/** A running pod that answers HTTP on this port: 200 to GET /healthz. */
	httpPod(): Promise<{ readonly namespace: string; readonly name: string; readonly port: number }>;
	close(): Promise<void>;
}

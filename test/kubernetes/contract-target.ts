import type { KeyPair } from "../../demo/machine/certificates.ts";

/** An API server under the contract, with the agents' manifests installed. */
export interface ContractTarget {
	readonly server: string;
	readonly isOldest?: boolean;
	readonly authority: string;
	/** A user of group system:masters. */
	readonly admin: KeyPair;
	/** Alice, of group xpdb-operators. */
	readonly operator: KeyPair;
	pauseControllers(): Promise<void>;
	resumeControllers(): Promise<void>;
	/** Forgets all earlier writes. */
	compact(): Promise<void>;
	/** Returns a running pod that answers GET /healthz with 200 on this port. */
	httpPod(): Promise<{ readonly namespace: string; readonly name: string; readonly port: number }>;
	close(): Promise<void>;
}

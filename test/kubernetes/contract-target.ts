import type { KeyPair } from "../../demo/machine/certificates.ts";

/** An API server to which the contract applies. The agents' manifests are installed there. */
export interface ContractTarget {
	readonly server: string;
	/** Whether it runs the oldest supported Kubernetes. */
	readonly isOldest?: boolean;
	readonly authority: string;
	/** A user of group system:masters. */
	readonly admin: KeyPair;
	/** Alice, of group xpdb-operators. */
	readonly operator: KeyPair;
	/** Stops all controllers until resumeControllers(). */
	pauseControllers(): Promise<void>;
	resumeControllers(): Promise<void>;
	/** Forgets all writes up to now. */
	compact(): Promise<void>;
	/** Returns a running pod that answers GET /healthz with 200 on this port. */
	httpPod(): Promise<{ readonly namespace: string; readonly name: string; readonly port: number }>;
	close(): Promise<void>;
}

/** A coordination.k8s.io Lease as the API server has it; everything of ours stands in `spec` and in one annotation. */
export interface LeaseObject {
	readonly name: string;
	readonly uid: string;
	readonly resourceVersion: string;
	readonly labels: Readonly<Record<string, string>>;
	readonly annotations: Readonly<Record<string, string>>;
	/** Why it cannot be read, of one that a watch shows nevertheless: the rest is what could be, and nothing to go by. */
	readonly unreadable?: string;
	readonly spec: {
		readonly holderIdentity?: string;
		readonly leaseDurationSeconds?: number;
		readonly acquireTime?: string;
		readonly renewTime?: string;
		readonly leaseTransitions?: number;
	};
}

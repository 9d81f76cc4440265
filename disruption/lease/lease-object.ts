/**
 * A coordination.k8s.io Lease as the API server has it. A budget's Lease stores everything in `spec` and in two annotations:
 * budgetAnnotation and stateAnnotation.
 */
export interface LeaseObject {
	readonly name: string;
	readonly uid: string;
	readonly resourceVersion: string;
	readonly labels: Readonly<Record<string, string>>;
	readonly annotations: Readonly<Record<string, string>>;
	/** Why the Lease cannot be read, although a watch shows it. The other fields are then incomplete, so do not rely on them. */
	readonly unreadable?: string;
	readonly spec: {
		readonly holderIdentity?: string;
		readonly leaseDurationSeconds?: number;
		readonly acquireTime?: string;
		readonly renewTime?: string;
		readonly leaseTransitions?: number;
	};
}

/**
 * A coordination.k8s.io Lease as the API server has it. A budget's Lease keeps everything in `spec` and two annotations: budgetAnnotation
 * and stateAnnotation.
 */
export interface LeaseObject {
	readonly name: string;
	readonly uid: string;
	readonly resourceVersion: string;
	readonly labels: Readonly<Record<string, string>>;
	readonly annotations: Readonly<Record<string, string>>;
	/**
	 * Why the Lease cannot be read, if a watch shows it nevertheless. Do not rely on the other fields then: they hold only what could be
	 * read.
	 */
	readonly unreadable?: string;
	readonly spec: {
		readonly holderIdentity?: string;
		readonly leaseDurationSeconds?: number;
		readonly acquireTime?: string;
		readonly renewTime?: string;
		readonly leaseTransitions?: number;
	};
}

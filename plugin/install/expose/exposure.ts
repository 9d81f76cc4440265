// Defines how agents of other members reach the agents of one member: the kind of Service, and its settings.

/** `none`: no Service of ours. The member has a given address, or no address at all. */
export const exposureKinds = ["loadbalancer", "nodeport", "none"] as const;

export type ExposureKind = (typeof exposureKinds)[number];

export interface Exposure {
	readonly kind: Exclude<ExposureKind, "none">;
	/** `spec.loadBalancerClass`, which selects the load balancer's controller. It cannot change while the Service is a load balancer. */
	readonly loadBalancerClass?: string;
	/** Our annotations, which the cloud reads. Others may add their own to the Service. */
	readonly annotations: Readonly<Record<string, string>>;
	/** For a Service that had both IP versions as a node port: some load balancers refuse them. */
	readonly isSingleStack?: true;
	/** CIDRs that may connect to the load balancer; empty: all. */
	readonly sources: readonly string[];
}

export const kindTexts: Readonly<Record<Exposure["kind"], string>> = {
	loadbalancer: "load balancer",
	nodeport: "node port",
};

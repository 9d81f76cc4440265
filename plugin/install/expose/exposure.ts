// How the agents of one member are reached by those of the others: by which kind of Service, and how that is made.

/** `none` is no Service of ours: an address that was given, or none at all. */
export const exposureKinds = ["loadbalancer", "nodeport", "none"] as const;

export type ExposureKind = (typeof exposureKinds)[number];

export interface Exposure {
	readonly kind: Exclude<ExposureKind, "none">;
	/** `spec.loadBalancerClass`: whose controller makes the load balancer. Cannot be changed as long as it is one. */
	readonly loadBalancerClass?: string;
	/** What a cloud reads there. Others write there too: these are ours. */
	readonly annotations: Readonly<Record<string, string>>;
	/** CIDRs that the load balancer lets through; none: all. */
	readonly sources: readonly string[];
}

export const kindTexts: Readonly<Record<Exposure["kind"], string>> = {
	loadbalancer: "load balancer",
	nodeport: "node port",
};

// Defines what the load balancers of known clouds need to pass TCP through to the agents, according to the clouds' own documentation.
import type { Exposure } from "./exposure.ts";

type Preset = Pick<Exposure, "annotations"> & Partial<Pick<Exposure, "loadBalancerClass">>;

const aws = (scheme: "internal" | "internet-facing", more: Preset["annotations"] = {}): Preset => ({
	// Needs the AWS Load Balancer Controller in the cluster. Before its version 2.5, or with its webhook off, a Service without a class gets a
	// Classic Load Balancer from the cluster itself.
	loadBalancerClass: "service.k8s.aws/nlb",
	annotations: {
		"service.beta.kubernetes.io/aws-load-balancer-scheme": scheme,
		// Sends traffic directly to the pods. "instance" adds a hop through a node, and checks the node's health instead of the agent's.
		"service.beta.kubernetes.io/aws-load-balancer-nlb-target-type": "ip",
		...more,
	},
});

/**
 * For clusters whose pods have IPv6 addresses. Without this, the controller makes no load balancer: "unsupported IPv6 configuration, lb not
 * dual-stack". The other presets cannot have it, because it needs subnets with IPv6.
 */
const dualstack = { "service.beta.kubernetes.io/aws-load-balancer-ip-address-type": "dualstack" };

export const exposePresets: Readonly<Record<string, Preset>> = {
	eks: aws("internet-facing"),
	"eks-internal": aws("internal"),
	"eks-dualstack": aws("internet-facing", dualstack),
	"eks-internal-dualstack": aws("internal", dualstack),
	gke: { annotations: { "cloud.google.com/l4-rbs": "enabled" } },
	"gke-internal": {
		annotations: {
			"networking.gke.io/load-balancer-type": "Internal",
			// Members are usually in other regions.
			"networking.gke.io/internal-load-balancer-allow-global-access": "true",
		},
	},
	"aks-internal": { annotations: { "service.beta.kubernetes.io/azure-load-balancer-internal": "true" } },
};

// What the load balancers of known clouds need to pass TCP through to the agents: as the clouds' own pages say it.
import type { Exposure } from "./exposure.ts";

type Preset = Pick<Exposure, "annotations"> & Partial<Pick<Exposure, "loadBalancerClass">>;

const aws = (scheme: "internal" | "internet-facing"): Preset => ({
	// The AWS Load Balancer Controller, which has to be there. Without a class it is the cluster's own, and a Classic Load Balancer.
	loadBalancerClass: "service.k8s.aws/nlb",
	annotations: {
		"service.beta.kubernetes.io/aws-load-balancer-scheme": scheme,
		// Straight to the pods: with "instance" it would be by a node, with two hops and the node's health in the place of the agent's.
		"service.beta.kubernetes.io/aws-load-balancer-nlb-target-type": "ip",
	},
});

export const exposePresets: Readonly<Record<string, Preset>> = {
	eks: aws("internet-facing"),
	"eks-internal": aws("internal"),
	gke: { annotations: { "cloud.google.com/l4-rbs": "enabled" } },
	"gke-internal": {
		annotations: {
			"networking.gke.io/load-balancer-type": "Internal",
			// Members are mostly in other regions.
			"networking.gke.io/internal-load-balancer-allow-global-access": "true",
		},
	},
	"aks-internal": { annotations: { "service.beta.kubernetes.io/azure-load-balancer-internal": "true" } },
};

// Makes the Service through which agents of other members connect, and reads its settings back. Pure.
import type { V1Service } from "@kubernetes/client-node";
import { agentLabel, agentName } from "../../../disruption/agent-names.ts";
import type { ClusterObject } from "../cluster-object.ts";
import type { Exposure } from "./exposure.ts";

/** Separate from the agents' Service in their own cluster, because port 8443 must not be reachable from outside. */
export const peersService = "xpdb-peers";

export const peerPort = 8444;

/** Lists the keys of our annotations, to tell them from a cloud's, whichever tool applies the Service. */
const keysAnnotation = "xpdb.form3.tech/expose-annotations";

const types = { loadbalancer: "LoadBalancer", nodeport: "NodePort" } as const satisfies Readonly<
	Record<Exposure["kind"], string>
>;

export function peersServiceObject(agentNamespace: string, exposure: Exposure): ClusterObject {
	const { kind, loadBalancerClass, annotations, sources, isSingleStack } = exposure;
	const keys = Object.keys(annotations).toSorted();
	const ours = Object.fromEntries(keys.map((key) => [key, annotations[key]]));
	return {
		apiVersion: "v1",
		kind: "Service",
		metadata: {
			name: peersService,
			namespace: agentNamespace,
			labels: { [agentLabel]: agentName },
			...(keys.length > 0 && { annotations: { ...ours, [keysAnnotation]: keys.join(",") } }),
		},
		spec: {
			type: types[kind],
			// With both IP versions where the cluster has both, because members of either may connect. But some load balancers refuse a
			// Service with an IP version that they are not set up for, so there the cluster decides, or a person.
			...(kind === "nodeport" && { ipFamilyPolicy: "PreferDualStack" }),
			...(isSingleStack && { ipFamilyPolicy: "SingleStack" }),
			...(loadBalancerClass !== undefined && { loadBalancerClass }),
			...(sources.length > 0 && { loadBalancerSourceRanges: sources }),
			selector: { [agentLabel]: agentName },
			ports: [{ name: "peers", port: peerPort, protocol: "TCP", targetPort: "peers" }],
		},
	};
}

/** Returns the settings with which an installation would make this Service; undefined for another type of Service. */
export function readExposure({ metadata, spec }: V1Service): Exposure | undefined {
	const kind = (["loadbalancer", "nodeport"] as const).find((each) => types[each] === spec?.type);
	if (!kind) return undefined;
	const there = metadata?.annotations ?? {};
	const keys = (there[keysAnnotation] ?? "").split(",");
	return {
		kind,
		...(spec?.loadBalancerClass !== undefined && { loadBalancerClass: spec.loadBalancerClass }),
		annotations: Object.fromEntries(
			keys.flatMap((key) => {
				const value = there[key];
				return value === undefined ? [] : [[key, value]];
			}),
		),
		sources: spec?.loadBalancerSourceRanges ?? [],
	};
}

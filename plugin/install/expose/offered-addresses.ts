// Finds the addresses at which a Service can be reached from outside its cluster, from its status and the nodes. Pure.
import { isIPv6 } from "node:net";
import type { V1Node, V1Service } from "@kubernetes/client-node";
import { peerPort } from "./peers-service.ts";
import { isSameAddress } from "./same-address.ts";

export interface OfferedAddress {
	/** HOST:PORT. */
	readonly address: string;
	/** What the address belongs to, for messages. */
	readonly of: string;
}

export type Offered =
	/** Best address first. */
	| { readonly kind: "some"; readonly addresses: readonly [OfferedAddress, ...OfferedAddress[]] }
	| { readonly kind: "none"; readonly why: string };

/** `nodes`: the nodes of the cluster; ignored for a load balancer. */
export function offeredAddresses(service: V1Service, nodes: readonly V1Node[]): Offered {
	const [found, why] = service.spec?.type === "NodePort" ? ofNodes(service, nodes) : ofBalancer(service);
	const [first, ...others] = found;
	return first ? { kind: "some", addresses: [first, ...others] } : { kind: "none", why };
}

/** Returns the listed address while it is still offered, because a working address is not replaced. Otherwise returns the best one. */
export function chooseAddress(
	{ addresses }: Extract<Offered, { readonly kind: "some" }>,
	listed: string | undefined,
): OfferedAddress {
	return addresses.find(({ address }) => listed !== undefined && isSameAddress(address, listed)) ?? addresses[0];
}

type Found = readonly [readonly OfferedAddress[], string];

function ofBalancer({ status }: V1Service): Found {
	const ingress = status?.loadBalancer?.ingress ?? [];
	const broken = ingress.flatMap(({ ports }) => ports?.find(({ port }) => port === peerPort)?.error ?? []);
	const addresses = ingress
		.filter(({ ports }) => ports?.some(({ port, error }) => port === peerPort && error !== undefined) !== true)
		// The host name comes before the IP address, because the addresses behind a name change.
		.flatMap(({ hostname, ip }) => [hostname, ip].filter((host) => host !== undefined && host !== ""))
		.map((host) => ({ address: hostPort(host ?? "", peerPort), of: "the load balancer" }));
	const why =
		broken.length > 0
			? `its load balancer does not serve port ${peerPort}: ${broken.join(", ")}`
			: "its load balancer has no address yet";
	return [addresses, why];
}

/** In order of preference: an InternalIP can be reached only within one network. */
const nodeAddressTypes = ["ExternalIP", "InternalIP"] as const;

const excludedLabel = "node.kubernetes.io/exclude-from-external-load-balancers";

function ofNodes({ spec }: V1Service, nodes: readonly V1Node[]): Found {
	const port = spec?.ports?.find((each) => each.port === peerPort)?.nodePort;
	if (port === undefined || port === 0) return [[], "it has no node port yet"];
	const usable = nodes
		.filter(isUsable)
		.toSorted((a, b) => ((a.metadata?.name ?? "") < (b.metadata?.name ?? "") ? -1 : 1));
	// Nodes serve the port only at addresses of the Service's own IP versions.
	const families = spec?.ipFamilies ?? ["IPv4", "IPv6"];
	const addresses = nodeAddressTypes.flatMap((type) =>
		usable.flatMap(({ metadata, status }) =>
			(status?.addresses ?? []).flatMap(({ type: theirs, address }) =>
				theirs === type && families.includes(isIPv6(address) ? "IPv6" : "IPv4")
					? [{ address: hostPort(address, port), of: `${type} of node ${metadata?.name}` }]
					: [],
			),
		),
	);
	const kind = families.length === 1 ? `${families[0]} address` : "IP address";
	const why =
		usable.length === 0 ? `none of its ${nodes.length} nodes is ready and uncordoned` : `no node of it has an ${kind}`;
	return [addresses, why];
}

function isUsable({ metadata, spec, status }: V1Node): boolean {
	return (
		metadata?.deletionTimestamp === undefined &&
		metadata?.labels?.[excludedLabel] === undefined &&
		spec?.unschedulable !== true &&
		status?.conditions?.some(({ type, status: holds }) => type === "Ready" && holds === "True") === true
	);
}

function hostPort(host: string, port: number): string {
	return isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
}

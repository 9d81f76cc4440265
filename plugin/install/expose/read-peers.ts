// Reads the Service for agents of other members, and its addresses.
import type { V1Node, V1Service } from "@kubernetes/client-node";
import { isNotFound } from "../../kubernetes/api-error.ts";
import type { KubeContext } from "../../kubernetes/kube-context.ts";
import { agentNamespaceLabel } from "../fleet-objects.ts";
import type { Exposure } from "./exposure.ts";
import { type Offered, offeredAddresses } from "./offered-addresses.ts";
import { peersService, readExposure } from "./peers-service.ts";

export interface FoundPeers {
	readonly exposure: Exposure;
	readonly offered: Offered;
	/** The IP versions of the Service, for example ["IPv4", "IPv6"]. */
	readonly ipFamilies?: readonly string[];
}

/**
 * Undefined if there is no such Service, if it has another type, or if no installation made it. Rejects with ApiError or ConnectionError.
 */
export async function readPeers(context: KubeContext): Promise<FoundPeers | undefined> {
	const { client, agents } = context;
	const path = `/api/v1/namespaces/${agents.namespace}/services/${peersService}`;
	const service = await client.get<V1Service>(path).catch((error: unknown) => {
		if (isNotFound(error)) return undefined;
		throw error;
	});
	const exposure = service && readExposure(service);
	if (!exposure || service.metadata?.labels?.[agentNamespaceLabel] === undefined) return undefined;
	const nodes = exposure.kind === "nodeport" ? await client.list<V1Node>("/api/v1/nodes") : [];
	const { ipFamilies } = service.spec ?? {};
	return { exposure, offered: offeredAddresses(service, nodes), ...(ipFamilies && { ipFamilies }) };
}

// Finds a replica's peer address: the one in its pod's annotation, or else the pod's IP address. Both are read from the API server, because
// the pod view does not keep them.
import { isIP } from "node:net";
import type { PodRecord } from "../../disruption/budget/pod.ts";
import { isRecord } from "../../disruption/record.ts";
import { peerAddressAnnotation } from "../../proto/peer-address.ts";
import type { ApiRequest } from "../kubernetes/api-connection.ts";
import { formatAddress } from "../process/config.ts";

/**
 * Returns HOST:PORT; undefined if the pod cannot be read, was replaced, or has no address yet. Rejects with AgentUnavailableError if the
 * API server does not answer.
 */
export async function findPeerAddress(
	api: ApiRequest,
	pod: Pick<PodRecord, "namespace" | "name" | "uid">,
	port: number,
): Promise<string | undefined> {
	const { status, body } = await api.request({
		method: "GET",
		path: `/api/v1/namespaces/${pod.namespace}/pods/${pod.name}`,
		what: `read pod "${pod.namespace}/${pod.name}"`,
	});
	if (status !== 200) return undefined;
	if (!isRecord(body) || !isRecord(body["metadata"]) || body["metadata"]["uid"] !== pod.uid) return undefined;
	const { annotations } = body["metadata"];
	const annotated = isRecord(annotations) ? annotations[peerAddressAnnotation] : undefined;
	if (typeof annotated === "string") return annotated;
	const ip = isRecord(body["status"]) ? body["status"]["podIP"] : undefined;
	return typeof ip === "string" && isIP(ip) !== 0 ? formatAddress({ host: ip, port }) : undefined;
}

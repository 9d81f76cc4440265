// A simulated API server as the plugin calls it: the few paths that evictions and drains use, over the simulated network.
import type { V1Pod } from "@kubernetes/client-node";
import type { EvictionAnswer } from "../../disruption/round/ticket.ts";
import type { PodRecord } from "../../disruption/budget/pod.ts";
import { reservationAnnotation } from "../../plugin/evictions/send-eviction.ts";
import { ApiError, ConnectionError, NotSentError } from "../../plugin/kubernetes/api-error.ts";
import type { CallOptions, KubernetesClient, ListQuery } from "../../plugin/kubernetes/kubernetes-client.ts";
import { judgeNatively } from "./native-budgets.ts";
import type { FreeEviction } from "./oracle.ts";
import type { ApiCall } from "./simulated-api.ts";
import { phaseOf, preActivityAnnotations } from "./projected-pod.ts";
import type { Preconditions } from "./simulated-api-server.ts";
import type { SimulatedCluster } from "./simulated-cluster.ts";

export interface PluginClientOptions {
	readonly cluster: SimulatedCluster;
	readonly carry: <T>(call: ApiCall<T>) => Promise<T>;
	/**
	 * Called after each accepted eviction or delete, except in a dry run. `under` is its reservation, or else what the sender may have
	 * read.
	 */
	readonly onEvicted: (pod: PodRecord, under: string | FreeEviction, sentAt: number) => void;
	/** Called with each change that a request made. */
	readonly onChanged: (what: string) => void;
	readonly now: () => number;
	readonly onSent: (uid: string) => void;
	/** Called when an eviction or a delete without a reservation is sent. */
	readonly onSentFreely: () => FreeEviction;
	/** If an eviction or its answer is lost, the API server answers 504 and 500 in turn. */
	readonly serverErrors: boolean;
	/** Returns the reservation that the delete of this pod uses. */
	readonly deletedUnder: (uid: string) => string | undefined;
	/** Each eviction or delete waits for this before it is written, for example for credentials or a connection. */
	readonly beforeSending: () => Promise<void>;
}

interface DeleteOptions {
	readonly preconditions?: Preconditions;
	readonly dryRun?: readonly string[];
}

interface EvictionBody {
	readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
	readonly deleteOptions: DeleteOptions;
}

const nodeField = "spec.nodeName=";
const nodesPath = "/api/v1/nodes/";
const podOfPath = /^\/api\/v1\/namespaces\/([^/]+)\/pods\/([^/]+)(\/eviction)?$/;

export function pluginClient({
	cluster,
	carry,
	now,
	onEvicted,
	onChanged,
	onSent,
	onSentFreely,
	deletedUnder,
	serverErrors,
	beforeSending,
}: PluginClientOptions): KubernetesClient {
	const { server } = cluster;
	let broken = 0;
	const ask = async <T>(call: ApiCall<T>): Promise<T> => {
		try {
			return await carry(call);
		} catch (error) {
			if (serverErrors && call.verb === "evict") {
				broken += 1;
				const code = broken % 2 === 0 ? 500 : 504;
				throw new ApiError("etcdserver: request timed out", {
					code,
					reason: code === 504 ? "Timeout" : "InternalError",
				});
			}
			throw new ConnectionError(server.clusterId, error);
		}
	};
	/** An eviction and a delete are alike, except that a delete asks no PodDisruptionBudget. */
	const end = async <T>(
		path: string,
		{ preconditions = {}, dryRun = [] }: DeleteOptions,
		{ guard, under: named }: CallOptions & { readonly under: string | undefined },
	): Promise<T> => {
		await beforeSending();
		if (guard?.() === false) throw new NotSentError();
		const pod = podAt(path);
		const isDryRun = dryRun.includes("All");
		onSent(preconditions.uid ?? "");
		const under = named ?? onSentFreely();
		const sentAt = now();
		const answer = await ask<EvictionAnswer<string>>({
			verb: "evict",
			resource: "pods",
			name: `${pod.namespace}/${pod.name}`,
			detail: preconditions,
			execute: () => {
				const before = server.getPod(pod);
				if (isDryRun) return before.kind === "present" ? { kind: "accepted" } : { kind: "gone" };
				const asked = before.kind === "present" && path.endsWith("/eviction") ? before.pod : undefined;
				const { nativeBudgets = [] } = cluster.data;
				const verdict = asked && judgeNatively(nativeBudgets, asked, { pods: server.pods(), preconditions });
				if (verdict?.kind === "refuse") {
					cluster.nativeRefusals += 1;
					return { kind: "refused", refusal: String(verdict.code) };
				}
				const given = server.evict(pod, verdict?.preconditions ?? preconditions);
				if (given.kind === "accepted") onChanged(`pod ${pod.name} is evicted`);
				if (before.kind === "present" && given.kind === "accepted") onEvicted(before.pod, under, sentAt);
				return given;
			},
		});
		const refuse = (code: number, reason: string): ApiError =>
			new ApiError(`pod ${pod.name}: ${reason}`, { code, reason });
		if (answer.kind === "gone") throw refuse(404, "NotFound");
		if (answer.kind === "conflict") throw refuse(409, "Conflict");
		if (answer.kind === "refused") throw refusedBy(answer.refusal);
		// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the API server answers
		return { kind: "Status", status: "Success" } as T;
	};
	const never = async (): Promise<never> => {
		throw new Error("the engine of evictions does not ask this");
	};
	return {
		server: server.clusterId,
		async get<T>(path: string): Promise<T> {
			if (path === "/version") {
				// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an answer that is not read
				return (await ask({ verb: "get", resource: "version", name: "", execute: () => undefined })) as T;
			}
			const pod = podAt(path);
			const found = await ask({
				verb: "get",
				resource: "pods",
				name: `${pod.namespace}/${pod.name}`,
				execute: () => (cluster.forbidsReads ? { kind: "forbidden" as const } : server.getPod(pod)),
			});
			if (found.kind === "forbidden")
				throw new ApiError(`pods "${pod.name}" is forbidden`, { code: 403, reason: "Forbidden" });
			if (found.kind === "gone") throw new ApiError(`pods "${pod.name}" not found`, { code: 404, reason: "NotFound" });
			// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what is at a pod's path
			return toV1Pod(found.pod, cluster) as T;
		},
		post: (path, body, options) => {
			// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the plugin's own request
			const { metadata, deleteOptions } = body as EvictionBody;
			return end(path, deleteOptions, { ...options, under: metadata.annotations?.[reservationAnnotation] });
		},
		delete: (path, body, options) => {
			// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
			const deleteOptions = body as DeleteOptions;
			const { uid = "" } = deleteOptions.preconditions ?? {};
			return end(path, deleteOptions, { ...options, under: deletedUnder(uid) });
		},
		async list<T>(_path: string, { fieldSelector = "" }: ListQuery<T> = {}): Promise<readonly T[]> {
			const node = fieldSelector.slice(nodeField.length);
			const execute = () => server.pods().filter((pod) => pod.node === node);
			const pods = await ask({ verb: "list", resource: "pods", name: "", detail: node, execute });
			// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- pods are all that is listed
			return pods.map((pod) => toV1Pod(pod, cluster)) as T[];
		},
		async patch<T>(path: string): Promise<T> {
			const { pathname, searchParams } = new URL(path, "https://server");
			const node = pathname.slice(nodesPath.length);
			const execute = (): undefined => {
				if (searchParams.has("dryRun")) return;
				cluster.cordoned.add(node);
				onChanged(`node ${node} is cordoned`);
			};
			// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an answer that is not read
			return (await ask({ verb: "patch", resource: "nodes", name: node, execute })) as T;
		},
		mergePatch: never,
		apply: never,
		stream: never,
		webSocket: never,
		close: () => undefined,
	};
}

function refusedBy(refusal: string): ApiError {
	if (refusal === "500") {
		const message = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
		return new ApiError(message, { code: 500, reason: "InternalError" });
	}
	const causes = [{ reason: "DisruptionBudget", message: "The disruption budget needs more healthy pods", field: "" }];
	const message = "Cannot evict pod as it would violate the pod's disruption budget.";
	return new ApiError(message, { code: 429, reason: "TooManyRequests", causes });
}

export function toV1Pod(pod: PodRecord, cluster: SimulatedCluster): V1Pod {
	const { name, namespace, uid, resourceVersion, labels, terminating, preActivities, controller, node } = pod;
	return {
		metadata: {
			name,
			namespace,
			uid,
			resourceVersion,
			labels,
			...(preActivities.length > 0 && { annotations: preActivityAnnotations(pod) }),
			...(controller && { ownerReferences: [{ ...controller, controller: true }] }),
			// A string, as on the wire.
			...(terminating && { deletionTimestamp: "2023-11-14T22:13:20Z" as unknown as Date }),
		},
		spec: { containers: [], ...(node !== "" && { nodeName: node }) },
		status: { phase: cluster.hasNotStarted(pod) ? "Pending" : phaseOf(pod) },
	};
}

function podAt(path: string): { readonly namespace: string; readonly name: string } {
	const [, namespace, name] = podOfPath.exec(path) ?? [];
	if (namespace === undefined || name === undefined)
		throw new Error(`the engine of evictions does not ask for ${path}`);
	return { namespace: decodeURIComponent(namespace), name: decodeURIComponent(name) };
}

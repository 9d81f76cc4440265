// Finds objects in the agents' namespace that no installation made. They are deleted with the namespace, so the user is told first.
import { agentName, managedByLabel } from "../../disruption/agent-names.ts";
import { isRecord } from "../../disruption/record.ts";
import { ApiError } from "../kubernetes/api-error.ts";
import { fieldManager } from "../kubernetes/field-manager.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { isAgentLease } from "./agent-lease.ts";
import { type ClusterObject, objectKey } from "./cluster-object.ts";
import type { InstalledCluster } from "./find-installed.ts";
import { installStep } from "./install-step.ts";

export interface ForeignObjects {
	readonly objects: readonly ClusterObject[];
	/** APIs and kinds that could not be listed, such as "apps/v1" or "apps/v1/deployments". */
	readonly unread: readonly string[];
}

interface ServedKind {
	readonly apiVersion: string;
	readonly kind: string;
	readonly plural: string;
}

/** Kubernetes makes these for other objects. Not all of them have an owner reference. */
const derivedKinds = ["Event", "Endpoints", "EndpointSlice"];

/** Returns none if the namespace stays. */
export async function findForeignObjects({ context, objects: ours }: InstalledCluster): Promise<ForeignObjects> {
	if (!ours.some(({ kind }) => kind === "Namespace")) return { objects: [], unread: [] };
	const unread: string[] = [];
	const known = new Set(ours.map(objectKey));
	const kinds = await servedKinds(context, unread);
	const lists = await Promise.all(kinds.map((kind) => listKind(context, kind, unread)));
	const objects = lists.flat().filter((object) => !known.has(objectKey(object)) && !isExpected(object));
	const sorted = new Map(objects.map((object) => [objectKey(object), object]));
	return { objects: [...sorted.values()], unread: unread.toSorted() };
}

/** Whether the object is ours, belongs to Kubernetes itself, or has an owner reference. */
function isExpected(object: ClusterObject): boolean {
	const { kind, metadata } = object;
	const { ownerReferences, annotations, labels = {} } = metadata;
	if (Array.isArray(ownerReferences) && ownerReferences.length > 0) return true;
	if (labels[managedByLabel] === fieldManager || labels[managedByLabel] === agentName) return true;
	switch (kind) {
		case "ServiceAccount":
			return metadata.name === "default";
		case "ConfigMap":
			return metadata.name === "kube-root-ca.crt";
		case "Secret":
			return isRecord(annotations) && annotations["kubernetes.io/service-account.name"] !== undefined;
		case "Lease":
			return isAgentLease(metadata);
		default:
			return false;
	}
}

async function servedKinds(context: KubeContext, unread: string[]): Promise<readonly ServedKind[]> {
	const { client } = context;
	const groups = await orUnread(
		context,
		client.get<{ readonly groups?: readonly unknown[] }>("/apis"),
		"/apis",
		unread,
	);
	const versions = (groups?.groups ?? []).flatMap((group) => {
		const preferred = isRecord(group) && isRecord(group["preferredVersion"]) ? group["preferredVersion"] : {};
		const version = preferred["groupVersion"];
		return typeof version === "string" ? [version] : [];
	});
	const lists = await Promise.all(
		["v1", ...versions].map(async (apiVersion) => {
			const path = apiVersion === "v1" ? "/api/v1" : `/apis/${apiVersion}`;
			const answer = client.get<{ readonly resources?: readonly unknown[] }>(path);
			const found = await orUnread(context, answer, apiVersion, unread);
			return (found?.resources ?? []).flatMap((resource) => servedKind(apiVersion, resource));
		}),
	);
	return lists.flat();
}

/** Returns the kind if its objects are stored in namespaces and deleted with them. */
function servedKind(apiVersion: string, resource: unknown): readonly ServedKind[] {
	if (!isRecord(resource)) return [];
	const { name, kind, namespaced, verbs } = resource;
	if (typeof name !== "string" || typeof kind !== "string" || namespaced !== true || !Array.isArray(verbs)) return [];
	const isStored = !name.includes("/") && verbs.includes("list") && verbs.includes("delete");
	return isStored && !derivedKinds.includes(kind) ? [{ apiVersion, kind, plural: name }] : [];
}

async function listKind(
	context: KubeContext,
	{ apiVersion, kind, plural }: ServedKind,
	unread: string[],
): Promise<readonly ClusterObject[]> {
	const group = apiVersion === "v1" ? "/api/v1" : `/apis/${apiVersion}`;
	const path = `${group}/namespaces/${context.agents.namespace}/${plural}`;
	const answer = context.client.list<ClusterObject>(path, {}, { metadataOnly: "list" });
	const items = (await orUnread(context, answer, `${apiVersion}/${plural}`, unread)) ?? [];
	return items.map(({ metadata }) => ({ apiVersion, kind, metadata }));
}

/** Adds `what` to `unread` if the API server refuses the request. Throws UsageError if it does not answer. */
async function orUnread<T>(
	context: KubeContext,
	answer: Promise<T>,
	what: string,
	unread: string[],
): Promise<T | undefined> {
	const told = answer.catch((error: unknown) => {
		if (!(error instanceof ApiError)) throw error;
		unread.push(what);
		return undefined;
	});
	return installStep(context, `list ${what}`, told);
}

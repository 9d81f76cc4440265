// Lists workloads of Kubernetes' own kinds: those of one namespace, or only their versions. Only a watch lists the whole cluster.
import type { ApiAsker } from "../kubernetes/api-asker.ts";
import { objectMeta } from "../kubernetes/kubernetes-objects.ts";
import { type ListedResource, listPaged } from "../kubernetes/paged-list.ts";
import type { ClusterApi } from "./cluster-api.ts";
import { createWorkloadProjection, type WorkloadKind, workloadKinds } from "./workload-record.ts";

/** The resourceVersion of each object by NAMESPACE/NAME, and that of the list. */
export interface ListedVersions {
	readonly versions: ReadonlyMap<string, string>;
	readonly resourceVersion: string;
}

export function workloadsIn({ apiVersion, plural, prefix }: WorkloadKind, namespace?: string): ListedResource {
	return {
		name: plural,
		path: namespace === undefined ? `${prefix}/${plural}` : `${prefix}/namespaces/${namespace}/${plural}`,
		resource: plural,
		group: apiVersion.includes("/") ? "apps" : "",
		...(namespace !== undefined && { namespace }),
	};
}

export function createWorkloadCalls(asker: ApiAsker): Pick<ClusterApi, "listWorkloads"> {
	return {
		async listWorkloads(namespace) {
			const lists = await Promise.all(
				workloadKinds.map((kind) => listPaged(asker, workloadsIn(kind, namespace), createWorkloadProjection(kind))),
			);
			return lists.flatMap(({ objects }) => objects);
		},
	};
}

/** Returns the versions of all objects of a kind in one namespace, from a consistent list with only metadata. */
export async function listWorkloadVersions(
	asker: ApiAsker,
	kind: WorkloadKind,
	namespace: string,
): Promise<ListedVersions> {
	const resource = { ...workloadsIn(kind, namespace), metadataOnly: true };
	const { objects, resourceVersion } = await listPaged(asker, resource, objectMeta);
	const versions = objects.map((object) => [`${namespace}/${object.name}`, object.resourceVersion] as const);
	return { versions: new Map(versions), resourceVersion };
}

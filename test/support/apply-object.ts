// Applies objects as kubectl would, but without a process for each: there are a few thousand objects, and a process takes 0.1 s.
import { type ApiClient, applyPatch } from "../../demo/machine/api-client.ts";

export interface KubernetesObject {
	readonly apiVersion: string;
	readonly kind: string;
	readonly metadata: {
		readonly name: string;
		readonly namespace?: string;
		readonly labels?: Readonly<Record<string, string>>;
	};
}

const clusterScoped = /^(Namespace|Node|PersistentVolume|CustomResourceDefinition|Validating.*|ClusterRole.*)$/;

export function isClusterScoped({ kind }: Pick<KubernetesObject, "kind">): boolean {
	return clusterScoped.test(kind);
}

/** Returns the path at which objects of this kind are created. The default namespace is "default". */
export function collectionPath({ apiVersion, kind, metadata }: KubernetesObject): string {
	const root = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
	const scope = isClusterScoped({ kind }) ? "" : `/namespaces/${metadata.namespace ?? "default"}`;
	return `${root}${scope}/${pluralOf(kind.toLowerCase())}`;
}

function pluralOf(kind: string): string {
	if (/[^aeiou]y$/.test(kind)) return `${kind.slice(0, -1)}ies`;
	return /(s|x|ch)$/.test(kind) ? `${kind}es` : `${kind}s`;
}

export function objectPath(object: KubernetesObject): string {
	return `${collectionPath(object)}/${object.metadata.name}`;
}

/**
 * Applies the objects in order, so that a namespace comes before its contents. Removes fields that only an earlier call of the same manager
 * set.
 */
export async function applyObjects(client: ApiClient, objects: readonly object[], manager = "tests"): Promise<void> {
	for (const object of objects as readonly KubernetesObject[]) {
		await client.send("PATCH", `${objectPath(object)}?fieldManager=${manager}&force=true`, object, applyPatch);
	}
}

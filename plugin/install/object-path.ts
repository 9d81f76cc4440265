// Builds the API paths of an installation's objects. The rule for plurals may be wrong for other kinds.
import type { ObjectReference } from "./cluster-object.ts";

export function objectPath(object: ObjectReference): string {
	return `${collectionPath(object)}/${object.metadata.name}`;
}

/** The path of all objects of this kind, in the namespace or in the cluster. */
export function collectionPath({ apiVersion, kind, metadata }: ObjectReference): string {
	const group = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
	const place = metadata.namespace === undefined ? "" : `/namespaces/${metadata.namespace}`;
	return `${group}${place}/${pluralOf(kind)}`;
}

export function pluralOf(kind: string): string {
	const singular = kind.toLowerCase();
	return singular.endsWith("y") ? `${singular.slice(0, -1)}ies` : `${singular}s`;
}

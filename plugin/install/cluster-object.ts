// Defines a Kubernetes object as in a manifest, and how to name and compare such objects.
export interface ClusterObject {
	readonly apiVersion: string;
	readonly kind: string;
	readonly metadata: ObjectMetadata;
	readonly [field: string]: unknown;
}

export interface ObjectMetadata {
	readonly name: string;
	readonly namespace?: string;
	readonly labels?: Readonly<Record<string, string>>;
	readonly [field: string]: unknown;
}

export type ObjectReference = Pick<ClusterObject, "apiVersion" | "kind"> & {
	readonly metadata: Pick<ObjectMetadata, "name" | "namespace">;
};

/** For messages, as kubectl writes it: "deployment.apps/xpdb-agent". */
export function objectText({ apiVersion, kind, metadata }: ObjectReference): string {
	const [group = ""] = apiVersion.includes("/") ? apiVersion.split("/") : [];
	return `${kind.toLowerCase()}${group === "" ? "" : `.${group}`}/${metadata.name}`;
}

/** Two manifests with the same key describe the same object. */
export function objectKey({ apiVersion, kind, metadata }: ObjectReference): string {
	const [group = ""] = apiVersion.includes("/") ? apiVersion.split("/") : [];
	return JSON.stringify([group, kind, metadata.namespace ?? "", metadata.name]);
}

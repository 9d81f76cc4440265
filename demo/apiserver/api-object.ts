// Types of stored objects, and functions that read them. Stored objects are immutable, so events and lists can share them.
import { isRecord } from "../../disruption/record.ts";

export type JsonObject = { readonly [field: string]: unknown };

export interface OwnerReference {
	readonly apiVersion: string;
	readonly kind: string;
	readonly name: string;
	readonly uid: string;
	readonly controller?: boolean;
	readonly blockOwnerDeletion?: boolean;
}

export interface Metadata {
	readonly name: string;
	readonly generateName?: string;
	readonly namespace?: string;
	readonly uid: string;
	readonly resourceVersion: string;
	readonly generation?: number;
	readonly creationTimestamp: string;
	readonly deletionTimestamp?: string;
	readonly deletionGracePeriodSeconds?: number;
	readonly labels?: Readonly<Record<string, string>>;
	readonly annotations?: Readonly<Record<string, string>>;
	readonly ownerReferences?: readonly OwnerReference[];
	readonly finalizers?: readonly string[];
	readonly managedFields?: readonly JsonObject[];
}

export interface ApiObject {
	readonly apiVersion: string;
	readonly kind: string;
	readonly metadata: Metadata;
	readonly spec?: JsonObject;
	readonly status?: JsonObject;
	readonly [field: string]: unknown;
}

export function valueAt(object: unknown, path: string): unknown {
	let value = object;
	for (const field of path.split(".")) value = isRecord(value) ? value[field] : undefined;
	return value;
}

export function textAt(object: unknown, path: string): string {
	const value = valueAt(object, path);
	return typeof value === "string" ? value : "";
}

export function numberAt(object: unknown, path: string): number | undefined {
	const value = valueAt(object, path);
	return typeof value === "number" ? value : undefined;
}

export function listAt(object: unknown, path: string): readonly JsonObject[] {
	const value = valueAt(object, path);
	return Array.isArray(value) ? value.filter(isRecord) : [];
}

export function keyOf(object: { readonly metadata: Pick<Metadata, "name" | "namespace"> }): string {
	return `${object.metadata.namespace ?? ""}/${object.metadata.name}`;
}

export function controllerOf(object: ApiObject): OwnerReference | undefined {
	return object.metadata.ownerReferences?.find(({ controller }) => controller === true);
}

export function timestamp(at = Date.now()): string {
	return new Date(at).toISOString().replace(/\.\d+Z$/, "Z");
}

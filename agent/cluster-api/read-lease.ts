// Reads a Lease as the API server sends it, strictly: unexpected content is an error and never becomes a default.
import { GarbledLeaseError } from "../../disruption/errors.ts";
import type { LeaseObject } from "../../disruption/lease/lease-object.ts";
import { quote } from "../../disruption/quote.ts";
import { isRecord } from "../../disruption/record.ts";
import { isText } from "../../disruption/text.ts";
import { objectMeta, recordAt } from "../kubernetes/kubernetes-objects.ts";

/** Throws GarbledLeaseError. `cluster` is the name for messages. */
export function readLease(object: unknown, cluster: string): LeaseObject {
	try {
		const { name, uid, resourceVersion } = objectMeta(object);
		const metadata = recordAt(object, "metadata");
		const fields = isRecord(object) ? (object["spec"] ?? {}) : undefined;
		if (!isRecord(fields)) throw new TypeError("its spec is not an object");
		return {
			name,
			uid,
			resourceVersion,
			labels: stringMap(metadata["labels"], "labels"),
			annotations: stringMap(metadata["annotations"], "annotations"),
			spec: {
				...optional(fields, "holderIdentity", "string"),
				...optional(fields, "leaseDurationSeconds", "number"),
				...optional(fields, "acquireTime", "string"),
				...optional(fields, "renewTime", "string"),
				...optional(fields, "leaseTransitions", "number"),
			},
		};
	} catch (error) {
		const metadata = isRecord(object) ? object["metadata"] : undefined;
		const name = isRecord(metadata) && isText(metadata["name"]) ? ` ${quote(metadata["name"])}` : "";
		const why = error instanceof Error ? error.message : String(error);
		throw new GarbledLeaseError(`cannot read Lease${name} in cluster "${cluster}": ${why}`, { cause: error });
	}
}

/**
 * Reads a Lease for a watch. A Lease that cannot be read is kept as unreadable: it blocks only the namespace of its budget, or all
 * namespaces if it names none (watched-leases.ts). Throws GarbledLeaseError if it has no identity.
 */
export function readWatchedLease(object: unknown, cluster: string): LeaseObject {
	try {
		return readLease(object, cluster);
	} catch (error) {
		const cause = error instanceof GarbledLeaseError ? error.cause : undefined;
		if (!(cause instanceof TypeError) || !hasIdentity(object)) throw error;
		const { name, uid, resourceVersion } = objectMeta(object);
		const { labels, annotations } = recordAt(object, "metadata");
		const unreadable = cause.message;
		return { name, uid, resourceVersion, labels: texts(labels), annotations: texts(annotations), spec: {}, unreadable };
	}
}

function hasIdentity(object: unknown): boolean {
	try {
		objectMeta(object);
		return true;
	} catch {
		return false;
	}
}

function texts(value: unknown): Readonly<Record<string, string>> {
	const entries = isRecord(value) ? Object.entries(value) : [];
	return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === "string"));
}

function stringMap(value: unknown, field: string): Readonly<Record<string, string>> {
	const map: Record<string, string> = {};
	if (value !== undefined && value !== null && !isRecord(value)) throw new TypeError(`its ${field} are not an object`);
	for (const [key, item] of Object.entries(value ?? {})) {
		if (typeof item !== "string") throw new TypeError(`its ${field} are not all strings`);
		map[key] = item;
	}
	return map;
}

function optional<K extends string>(fields: Record<string, unknown>, key: K, type: "string"): { [P in K]?: string };
function optional<K extends string>(fields: Record<string, unknown>, key: K, type: "number"): { [P in K]?: number };
function optional(fields: Record<string, unknown>, key: string, type: "string" | "number"): object {
	const value = fields[key] ?? undefined;
	if (value === undefined) return {};
	if (typeof value !== type) throw new TypeError(`its spec.${key} is not a ${type}`);
	return { [key]: value };
}

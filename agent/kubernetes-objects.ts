// Objects as the API server sends them, read strictly: what is not as it must be is an error and never a default.
import type { MemberBudget } from "../disruption/cluster.ts";
import { GarbledLeaseError } from "../disruption/errors.ts";
import type { ControllerReference } from "../disruption/pod.ts";
import { quote } from "../disruption/quote.ts";
import { isRecord } from "../disruption/record.ts";
import { isResourceVersion } from "../disruption/resource-version.ts";
import type { LeaseObject } from "./cluster-api.ts";

export interface ObjectMeta {
	readonly name: string;
	readonly uid: string;
	readonly resourceVersion: string;
}

/** What identifies an object; throws TypeError where any of it is missing. */
export function objectMeta(object: unknown): ObjectMeta {
	const metadata = isRecord(object) ? object["metadata"] : undefined;
	if (!isRecord(metadata)) throw new TypeError("Cannot read object: it has no metadata");
	const { name, uid, resourceVersion } = metadata;
	if (!isText(name) || !isText(uid)) throw new TypeError("Cannot read object: it has no name or no uid");
	if (typeof resourceVersion !== "string" || !isResourceVersion(resourceVersion)) {
		throw new TypeError(`Cannot read object ${quote(name)}: its resourceVersion is ${quote(resourceVersion)}`);
	}
	return { name, uid, resourceVersion };
}

/** The owner that controls an object, if any. */
export function controllerOf(object: unknown): ControllerReference | undefined {
	const metadata = isRecord(object) ? object["metadata"] : undefined;
	const owners: unknown = isRecord(metadata) ? (metadata["ownerReferences"] ?? []) : [];
	if (!Array.isArray(owners)) throw new TypeError("Cannot read object: its ownerReferences are not a list");
	const owner: unknown = owners.find((reference: unknown) => isRecord(reference) && reference["controller"] === true);
	if (!isRecord(owner)) return undefined;
	const { apiVersion, kind, name, uid } = owner;
	if (!isText(apiVersion) || !isText(kind) || !isText(name) || !isText(uid)) {
		throw new TypeError("Cannot read object: the reference to its controller is not complete");
	}
	return { apiVersion, kind, name, uid };
}

/** The items and the resourceVersion of a list; `continueToken` is "" on the last page. */
export function listPage(body: unknown): {
	readonly items: readonly unknown[];
	readonly resourceVersion: string;
	readonly continueToken: string;
} {
	const metadata = isRecord(body) ? body["metadata"] : undefined;
	// An empty list has its items too: without them nobody knows what there is.
	const items: unknown = isRecord(body) ? body["items"] : undefined;
	if (!isRecord(metadata) || !Array.isArray(items))
		throw new TypeError("Cannot read list: it has no metadata or no items");
	const { resourceVersion } = metadata;
	if (typeof resourceVersion !== "string" || !isResourceVersion(resourceVersion)) {
		throw new TypeError(`Cannot read list: its resourceVersion is ${quote(resourceVersion)}`);
	}
	const token = metadata["continue"] ?? "";
	if (typeof token !== "string") throw new TypeError("Cannot read list: its continue token is not a string");
	return { items, resourceVersion, continueToken: token };
}

/** Throws GarbledLeaseError; `cluster` is for people. */
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
		throw new GarbledLeaseError(`Cannot read Lease${name} in cluster "${cluster}": ${why}`, { cause: error });
	}
}

/** A budget with its spec as it stands: whether it can be enforced is judged by whoever decides. */
export function readBudget(object: unknown): MemberBudget {
	const { name } = objectMeta(object);
	const namespace = recordAt(object, "metadata")["namespace"];
	if (typeof namespace !== "string" || namespace === "") {
		throw new TypeError(`Cannot read budget ${quote(name)}: it has no namespace`);
	}
	return { name: { namespace, name }, spec: isRecord(object) ? object["spec"] : undefined };
}

function isText(value: unknown): value is string {
	return typeof value === "string" && value !== "";
}

function recordAt(object: unknown, field: string): Readonly<Record<string, unknown>> {
	const value = isRecord(object) ? object[field] : undefined;
	if (!isRecord(value)) throw new TypeError(`Cannot read object: it has no ${field}`);
	return value;
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

// Records in metadata.managedFields who last wrote a node's cordon. No other field has an owner here.
import { isDeepStrictEqual } from "node:util";
import { type ApiObject, valueAt } from "./api-object.ts";
import type { ApiRequest } from "./api-request.ts";

const path = "spec.unschedulable";

/** Returns `next` with the cordon's owner. A write that leaves the cordon unchanged keeps the owner. */
export function withFieldOwners({ type, query }: ApiRequest, old: ApiObject, next: ApiObject): ApiObject {
	const value = valueAt(next, path);
	if (type.key !== "nodes" || isDeepStrictEqual(valueAt(old, path), value)) return next;
	const { managedFields: _, ...metadata } = next.metadata;
	if (value === undefined) return { ...next, metadata };
	const owner = {
		// Without a named manager, a real API server uses User-Agent up to its first slash.
		manager: query.get("fieldManager") ?? "unknown",
		operation: "Update",
		apiVersion: "v1",
		time: new Date().toISOString().replace(/\.\d+Z$/, "Z"),
		fieldsType: "FieldsV1",
		fieldsV1: { "f:spec": { "f:unschedulable": {} } },
	};
	return { ...next, metadata: { ...metadata, managedFields: [owner] } };
}

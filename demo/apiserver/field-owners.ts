// Records in metadata.managedFields who last wrote a field. Only one field matters here: a node's cordon.
import { isDeepStrictEqual } from "node:util";
import { type ApiObject, valueAt } from "./api-object.ts";
import type { ApiRequest } from "./api-request.ts";

const path = "spec.unschedulable";

/** Returns `next` with the owner of a node's cordon. A write that does not change the cordon does not change the owner. */
export function withFieldOwners({ type, query }: ApiRequest, old: ApiObject, next: ApiObject): ApiObject {
	const value = valueAt(next, path);
	if (type.key !== "nodes" || isDeepStrictEqual(valueAt(old, path), value)) return next;
	const { managedFields: _, ...metadata } = next.metadata;
	if (value === undefined) return { ...next, metadata };
	const owner = {
		// A real API server takes the first word of User-Agent for a client that names no manager.
		manager: query.get("fieldManager") ?? "unknown",
		operation: "Update",
		apiVersion: "v1",
		time: new Date().toISOString().replace(/\.\d+Z$/, "Z"),
		fieldsType: "FieldsV1",
		fieldsV1: { "f:spec": { "f:unschedulable": {} } },
	};
	return { ...next, metadata: { ...metadata, managedFields: [owner] } };
}

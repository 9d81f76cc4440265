// Applies the patch types that the plugin, the agents and kubectl send: JSON (RFC 6902), merge (RFC 7396) and Kubernetes' strategic merge.
import { applyPatch as applyJsonPatch, type Operation } from "rfc6902";
import { isRecord } from "../../disruption/record.ts";
import { type JsonObject } from "./api-object.ts";
import { badRequest, unsupportedMediaType } from "./status-error.ts";

/** The key that identifies a list's items, by the name of the list. Other lists are replaced, except `mergedSets`. */
const mergeKeys: Readonly<Record<string, string>> = {
	conditions: "type",
	containers: "name",
	initContainers: "name",
	env: "name",
	volumes: "name",
	volumeMounts: "mountPath",
	ownerReferences: "uid",
	imagePullSecrets: "name",
	addresses: "type",
};
const mergedSets = ["finalizers"];

const json = "application/json-patch+json";
const merge = "application/merge-patch+json";
const strategic = "application/strategic-merge-patch+json";

/** Returns the object after the patch. Custom kinds refuse strategic merge patches. */
export function patched(
	object: JsonObject,
	patch: { readonly contentType: string; readonly body: unknown; readonly isCustom: boolean },
): JsonObject {
	const { contentType, body, isCustom } = patch;
	const accepted = isCustom ? [json, merge] : [json, merge, strategic];
	if (!accepted.includes(contentType)) throw unsupportedMediaType(accepted);
	if (contentType === json) return jsonPatched(object, body);
	if (!isRecord(body)) throw badRequest("the body of a patch must be an object");
	return contentType === merge ? mergePatched(object, body) : strategicPatched(object, body);
}

function jsonPatched(object: JsonObject, body: unknown): JsonObject {
	const copy = structuredClone(object);
	// The library validates the operations.
	const [problem] = applyJsonPatch(copy, body as Operation[]).filter((error) => error !== null);
	if (problem) throw badRequest(`the server rejected our request due to an error in our request: ${problem.message}`);
	return copy;
}

function mergePatched(target: JsonObject, patch: JsonObject): JsonObject {
	const result: Record<string, unknown> = { ...target };
	for (const [field, value] of Object.entries(patch)) {
		if (value === null) delete result[field];
		else if (isRecord(value)) result[field] = mergePatched(recordOr(result[field]), value);
		else result[field] = value;
	}
	return result;
}

function strategicPatched(target: JsonObject, patch: JsonObject): JsonObject {
	if (patch["$patch"] === "replace") {
		const { $patch: _directive, ...rest } = patch;
		return rest;
	}
	const result: Record<string, unknown> = { ...target };
	for (const [field, value] of Object.entries(patch)) {
		const [, deletedFrom] = /^\$deleteFromPrimitiveList\/(.+)$/.exec(field) ?? [];
		if (deletedFrom !== undefined) {
			result[deletedFrom] = listOr(result[deletedFrom]).filter((item) => !listOr(value).includes(item));
		} else if (field.startsWith("$")) {
			continue; // Ignores $setElementOrder and $retainKeys.
		} else if (value === null) delete result[field];
		else if (isRecord(value)) result[field] = strategicPatched(recordOr(result[field]), value);
		else if (Array.isArray(value)) result[field] = mergedList(field, listOr(result[field]), value);
		else result[field] = value;
	}
	return result;
}

function mergedList(field: string, target: readonly unknown[], patch: readonly unknown[]): unknown[] {
	if (mergedSets.includes(field)) return [...new Set([...target, ...patch])];
	const key = mergeKeys[field];
	if (key === undefined) return [...patch];
	const items = patch.filter(isRecord);
	if (items.some((item) => item["$patch"] === "replace")) return items.filter((item) => item["$patch"] !== "replace");
	const result = target.filter(isRecord);
	for (const item of items) {
		const at = result.findIndex((other) => other[key] === item[key]);
		if (item["$patch"] === "delete") {
			if (at !== -1) result.splice(at, 1);
		} else if (at === -1) result.push(item);
		else result[at] = strategicPatched(result[at] ?? {}, item);
	}
	return result;
}

function recordOr(value: unknown): JsonObject {
	return isRecord(value) ? value : {};
}

function listOr(value: unknown): readonly unknown[] {
	return Array.isArray(value) ? value : [];
}

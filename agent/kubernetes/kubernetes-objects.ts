// Reads objects as the API server sends them, strictly: unexpected content is an error and never becomes a default.
import { quote } from "../../disruption/quote.ts";
import { isRecord } from "../../disruption/record.ts";
import { isResourceVersion } from "../../disruption/resource-version.ts";
import { isText } from "../../disruption/text.ts";

interface ObjectMeta {
	readonly name: string;
	readonly uid: string;
	readonly resourceVersion: string;
}

/** Reads what identifies an object. Throws TypeError if any of it is missing. */
export function objectMeta(object: unknown): ObjectMeta {
	const metadata = isRecord(object) ? object["metadata"] : undefined;
	if (!isRecord(metadata)) throw new TypeError("cannot read object: it has no metadata");
	const { name, uid, resourceVersion } = metadata;
	if (!isText(name) || !isText(uid)) throw new TypeError("cannot read object: it has no name or no uid");
	if (typeof resourceVersion !== "string" || !isResourceVersion(resourceVersion)) {
		throw new TypeError(`cannot read object ${quote(name)}: its resourceVersion is ${quote(resourceVersion)}`);
	}
	return { name, uid, resourceVersion };
}

/** Reads one page of a list. `continueToken` is "" on the last page. Throws TypeError if the page cannot be read. */
export function listPage(body: unknown): {
	readonly items: readonly unknown[];
	readonly resourceVersion: string;
	readonly continueToken: string;
} {
	const metadata = isRecord(body) ? body["metadata"] : undefined;
	// Even an empty list has items, so without the field the content is unknown.
	const items: unknown = isRecord(body) ? body["items"] : undefined;
	if (!isRecord(metadata) || !Array.isArray(items))
		throw new TypeError("cannot read list: it has no metadata or no items");
	const { resourceVersion } = metadata;
	if (typeof resourceVersion !== "string" || !isResourceVersion(resourceVersion)) {
		throw new TypeError(`cannot read list: its resourceVersion is ${quote(resourceVersion)}`);
	}
	const token = metadata["continue"] ?? "";
	if (typeof token !== "string") throw new TypeError("cannot read list: its continue token is not a string");
	return { items, resourceVersion, continueToken: token };
}

export const metadataList = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";

/** Replaces null items with an empty array. An empty list of metadata has null items (Go's nil slice). */
export function withItems(body: unknown): unknown {
	return isRecord(body) && body["items"] === null ? { ...body, items: [] } : body;
}

/** Returns a field of the object. Throws TypeError if the field is not an object. */
export function recordAt(object: unknown, field: string): Readonly<Record<string, unknown>> {
	const value = isRecord(object) ? object[field] : undefined;
	if (!isRecord(value)) throw new TypeError(`cannot read object: it has no ${field}`);
	return value;
}

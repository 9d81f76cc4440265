// Answers GET and LIST with consistent data. All pages of a list show the same version as the first page.
import type { ApiObject } from "./api-object.ts";
import { type ApiRequest, storeKey } from "./api-request.ts";
import type { ObjectStore } from "./object-store.ts";
import { apiVersionOf, type ResourceType } from "./resource-types.ts";
import { type Predicate, parseSelectors } from "./selectors.ts";
import { badRequest, expired, notFound, StatusError } from "./status-error.ts";

export interface ListedObjects {
	readonly objects: readonly ApiObject[];
	readonly metadata: {
		readonly resourceVersion: string;
		readonly continue?: string;
		readonly remainingItemCount?: number;
	};
}

export function read(store: ObjectStore, request: ApiRequest): ApiObject {
	const found = store.find(request.type.key, storeKey(request));
	if (!found) throw notFound(request.type, request.name);
	return found;
}

export function list(store: ObjectStore, request: ApiRequest): ListedObjects {
	const { type, query } = request;
	const isWanted = selection(request);
	const place = readPlace(query);
	if (!place) refuseFuture(store, query);
	const version = place?.version ?? store.version;
	const all = place ? store.listAt(type.key, version) : store.list(type.key);
	if (!all) {
		throw expired(
			"The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter.",
		);
	}
	const objects = all.filter(
		(object) => isWanted(object) && (!place || storeKey(object.metadata as Key) > place.after),
	);
	const limit = Number(query.get("limit") ?? 0);
	const resourceVersion = String(version);
	if (limit <= 0 || objects.length <= limit) return { objects, metadata: { resourceVersion } };
	const page = objects.slice(0, limit);
	const after = storeKey(page.at(-1)?.metadata as Key);
	const hasSelector = (query.get("labelSelector") ?? "") + (query.get("fieldSelector") ?? "") !== "";
	const remaining = hasSelector ? {} : { remainingItemCount: objects.length - limit };
	return { objects: page, metadata: { resourceVersion, continue: placeToken({ version, after }), ...remaining } };
}

type Key = { readonly namespace: string; readonly name: string };

export function selection({ type, namespace, query }: Pick<ApiRequest, "type" | "namespace" | "query">): Predicate {
	const isSelected = parseSelectors(type, {
		labelSelector: query.get("labelSelector") ?? "",
		fieldSelector: query.get("fieldSelector") ?? "",
	});
	return (object) => (namespace === "" || object.metadata.namespace === namespace) && isSelected(object);
}

/** Items of built-in kinds have no `kind` and no `apiVersion`. */
export function listBody(type: ResourceType, { objects, metadata }: ListedObjects): object {
	const items = objects.map((object) => {
		if (type.custom) return object;
		const { apiVersion: _apiVersion, kind: _kind, ...item } = object;
		return item;
	});
	return { kind: `${type.kind}List`, apiVersion: apiVersionOf(type), metadata, items };
}

// The token has Kubernetes' format, so that a test can make an expired token for both this and a real API server.
function placeToken({ version, after }: { readonly version: number; readonly after: string }): string {
	return Buffer.from(JSON.stringify({ v: "meta.k8s.io/v1", rv: version, start: after })).toString("base64url");
}

function readPlace(query: URLSearchParams): { readonly version: number; readonly after: string } | undefined {
	const token = query.get("continue") ?? "";
	if (token === "") return undefined;
	try {
		const { v, rv, start } = JSON.parse(Buffer.from(token, "base64url").toString()) as Record<string, unknown>;
		if (v === "meta.k8s.io/v1" && typeof rv === "number" && typeof start === "string")
			return { version: rv, after: start };
	} catch (error) {
		if (!(error instanceof SyntaxError)) throw error;
	}
	throw badRequest("continue key is not valid");
}

/** Refuses a future version at once: no cache lags here, so waiting for it is useless. */
function refuseFuture(store: ObjectStore, query: URLSearchParams): void {
	const version = query.get("resourceVersion") ?? "";
	if (version === "" || version === "0") return;
	if (!/^\d+$/.test(version)) throw badRequest(`invalid resource version ${JSON.stringify(version)}`);
	if (Number(version) <= store.version) return;
	throw new StatusError({
		code: 504,
		reason: "Timeout",
		message: `Timeout: Too large resource version: ${version}, current: ${store.version}`,
		details: {
			causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
			retryAfterSeconds: 1,
		},
	});
}

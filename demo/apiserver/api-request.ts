// A request to the API server, from a client or from a controller in this process.
import { isRecord } from "../../disruption/record.ts";
import { type JsonObject, valueAt } from "./api-object.ts";
import type { ResourceType } from "./resource-types.ts";
import { badRequest } from "./status-error.ts";

export interface User {
	readonly name: string;
	readonly uid?: string;
	readonly groups: readonly string[];
	readonly extra?: Readonly<Record<string, readonly string[]>>;
}

export type Verb = "get" | "list" | "watch" | "create" | "update" | "patch" | "delete" | "deletecollection";

export interface ApiRequest {
	readonly user: User;
	readonly verb: Verb;
	readonly type: ResourceType;
	/** "" for all namespaces, and for objects without a namespace. */
	readonly namespace: string;
	readonly name: string;
	/** "" for the object itself. */
	readonly subresource: string;
	readonly query: URLSearchParams;
	readonly body: unknown;
	readonly contentType: string;
}

export interface ApiAnswer {
	readonly code: number;
	readonly body: unknown;
}

export function sentObject(request: ApiRequest): JsonObject {
	if (!isRecord(request.body)) throw badRequest("the body of the request must be an object");
	return request.body;
}

export function isDryRun({ query, body }: ApiRequest): boolean {
	const inBody = valueAt(body, "dryRun");
	return query.get("dryRun") === "All" || (Array.isArray(inBody) && inBody.includes("All"));
}

export function storeKey({ namespace, name }: Pick<ApiRequest, "namespace" | "name">): string {
	return `${namespace}/${name}`;
}

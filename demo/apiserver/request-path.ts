// Parses the method and the path of a request: /apis/GROUP/VERSION/namespaces/NAMESPACE/RESOURCE/NAME/SUBRESOURCE.
import type { ApiRequest, Verb } from "./api-request.ts";
import type { ResourceType } from "./resource-types.ts";

export type RequestedResource = Pick<ApiRequest, "type" | "namespace" | "name" | "subresource" | "verb" | "query">;

/** Returns undefined for an unknown kind, an invalid path or an invalid method. */
export function findResource(method: string, url: URL, types: readonly ResourceType[]): RequestedResource | undefined {
	const words = url.pathname.split("/").slice(1).map(decodeURIComponent);
	const [root, ...rest] = words;
	const [group, version, ...path] = root === "api" ? ["", ...rest] : root === "apis" ? rest : [];
	if (version === undefined) return undefined;
	const inGroup = types.filter((type) => type.group === group && type.version === version);
	const [first, second, third, ...more] = path;
	// "namespaces/NAME" and its subresources name the namespace itself.
	const isScoped = first === "namespaces" && third !== undefined && !["status", "finalize"].includes(third);
	const [plural, name = "", subresource = "", ...beyond] = isScoped ? [third, ...more] : path;
	const type = inGroup.find((each) => each.plural === plural && each.namespaced === (isScoped || each.namespaced));
	const verb = verbOf(method, name, url.searchParams);
	if (!type || beyond.length > 0 || !verb) return undefined;
	if (type.namespaced && !isScoped && name !== "") return undefined;
	return { type, namespace: isScoped ? (second ?? "") : "", name, subresource, verb, query: url.searchParams };
}

function verbOf(method: string, name: string, query: URLSearchParams): Verb | undefined {
	switch (method) {
		case "GET":
			if (name !== "") return "get";
			return ["true", "1"].includes(query.get("watch") ?? "") ? "watch" : "list";
		case "POST":
			return "create";
		case "PUT":
			return "update";
		case "PATCH":
			return "patch";
		case "DELETE":
			return name === "" ? "deletecollection" : "delete";
		default:
			return undefined;
	}
}

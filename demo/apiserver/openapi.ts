// Serves the part of OpenAPI v3 that `kubectl apply` needs: which kinds can be patched, and that the server validates fields.
import { apiVersionOf, isReview, type ResourceType } from "./resource-types.ts";

const info = { title: "Kubernetes", version: "v1.36.3" };

/** Returns the answer to a path at or below /openapi/v3. Undefined if nothing is served there. */
export function openApi(path: string, types: readonly ResourceType[]): unknown {
	const [, asked] = /^\/openapi\/v3(?:\/(.+))?$/.exec(path) ?? [];
	if (!path.startsWith("/openapi/v3")) return undefined;
	const stored = types.filter((type) => !isReview(type));
	if (asked === undefined) {
		const roots = [...new Set(stored.map(rootOf))];
		return { paths: Object.fromEntries(roots.map((root) => [root, { serverRelativeURL: `/openapi/v3/${root}` }])) };
	}
	const found = stored.filter((type) => rootOf(type) === asked);
	if (found.length === 0) return undefined;
	return { openapi: "3.0.0", info, paths: Object.fromEntries(found.map((type) => [pathOf(type), patchOf(type)])) };
}

function rootOf(type: ResourceType): string {
	return `${type.group === "" ? "api" : "apis"}/${apiVersionOf(type)}`;
}

function pathOf(type: ResourceType): string {
	return `/${rootOf(type)}/${type.namespaced ? "namespaces/{namespace}/" : ""}${type.plural}/{name}`;
}

function patchOf({ group, version, kind }: ResourceType): object {
	const parameters = ["fieldValidation", "dryRun"].map((name) => ({ name, in: "query", schema: { type: "string" } }));
	return {
		patch: { "x-kubernetes-group-version-kind": { group, version, kind }, parameters, responses: {} },
	};
}

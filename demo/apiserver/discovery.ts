// Serves discovery for kubectl, the plugin and the agents: groups, versions and kinds.
import { apiVersionOf, isReview, type ResourceType } from "./resource-types.ts";

const verbs = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
const versionInfo = {
	major: "1",
	minor: "36",
	gitVersion: "v1.36.3-xpdb-small",
	gitCommit: "",
	gitTreeState: "clean",
	buildDate: "1970-01-01T00:00:00Z",
	goVersion: "none",
	compiler: "none",
	platform: "none",
};

/** Returns the answer to a discovery path. Undefined for any other path. */
export function discovered(path: string, types: readonly ResourceType[], address: string): unknown {
	if (path === "/version") return versionInfo;
	if (path === "/api") {
		const serverAddressByClientCIDRs = [{ clientCIDR: "0.0.0.0/0", serverAddress: address }];
		return { kind: "APIVersions", versions: ["v1"], serverAddressByClientCIDRs };
	}
	if (path === "/apis") {
		const groups = [...new Set(types.map(({ group }) => group))].filter((group) => group !== "");
		return { kind: "APIGroupList", apiVersion: "v1", groups: groups.map((group) => groupOf(group, types)) };
	}
	const isCore = path === "/api/v1";
	const [, group = "", version] = /^\/apis\/([^/]+)(?:\/([^/]+))?$/.exec(path) ?? [];
	if (!isCore && group === "") return undefined;
	const found = types.filter((type) => type.group === (isCore ? "" : group));
	if (found.length === 0) return undefined;
	if (isCore) return resourceList("v1", found);
	if (version === undefined) return { kind: "APIGroup", apiVersion: "v1", ...groupOf(group, found) };
	const served = found.filter((type) => type.version === version);
	return served.length === 0 ? undefined : resourceList(`${group}/${version}`, served);
}

function groupOf(group: string, types: readonly ResourceType[]) {
	const versions = types
		.filter((type) => type.group === group)
		.map((type) => ({ groupVersion: apiVersionOf(type), version: type.version }));
	const unique = [...new Map(versions.map((version) => [version.groupVersion, version])).values()];
	return { name: group, versions: unique, preferredVersion: unique[0] };
}

function resourceList(groupVersion: string, types: readonly ResourceType[]) {
	const resources = types.flatMap((type) => [
		{
			name: type.plural,
			singularName: type.kind.toLowerCase(),
			namespaced: type.namespaced,
			kind: type.kind,
			verbs: isReview(type) ? ["create"] : verbs,
			...(type.shortNames.length > 0 && { shortNames: type.shortNames }),
			...(type.plural === "pods" && { categories: ["all"] }),
		},
		...type.subresources.map((subresource) => ({
			name: `${type.plural}/${subresource}`,
			singularName: "",
			namespaced: type.namespaced,
			...subresourceKind(type, subresource),
		})),
	]);
	return { kind: "APIResourceList", apiVersion: "v1", groupVersion, resources };
}

function subresourceKind({ kind }: ResourceType, subresource: string): object {
	switch (subresource) {
		case "scale":
			return { group: "autoscaling", version: "v1", kind: "Scale", verbs: ["get", "patch", "update"] };
		case "eviction":
			return { group: "policy", version: "v1", kind: "Eviction", verbs: ["create"] };
		case "token":
			return { group: "authentication.k8s.io", version: "v1", kind: "TokenRequest", verbs: ["create"] };
		case "portforward":
			return { kind: "PodPortForwardOptions", verbs: ["create", "get"] };
		default:
			return { kind, verbs: ["get", "patch", "update"] };
	}
}

// Defines the rights that the user of a run needs, as agent/deploy/rbac-operator.yaml grants them, and those that an installation needs.
import { defaultFleetConfigMap } from "../../disruption/agent-names.ts";
import { budgetApi } from "../../disruption/budget/budget.ts";
import { deployManifests } from "../install/deploy-manifests.ts";
import { pluralOf } from "../install/object-path.ts";

/** The resourceAttributes of a SelfSubjectAccessReview. */
export interface Right {
	readonly verb: string;
	readonly group: string;
	readonly resource: string;
	readonly subresource?: string;
	readonly name?: string;
	/** Left out for all namespaces, and for a resource without a namespace. */
	readonly namespace?: string;
}

/** Returns the rights by purpose. `namespace` is that of the pods to evict. Undefined for all. */
export function neededRights(agentNamespace: string, account: string, namespace: string | undefined) {
	const inAnchor = { group: "", namespace: agentNamespace };
	const ofPods = { group: "", resource: "pods", ...(namespace !== undefined && { namespace }) };
	const apps = ["daemonsets", "deployments", "replicasets", "statefulsets"];
	const owners = (group: string, resources: readonly string[]): readonly Right[] =>
		resources.map((resource) => ({ ...ofPods, verb: "get", group, resource }));
	return {
		reach: [
			{ verb: "get", group: "", resource: "namespaces", name: "kube-system" },
			{ ...inAnchor, verb: "get", resource: "configmaps", name: "xpdb-ca" },
			{ ...inAnchor, verb: "get", resource: "configmaps", name: defaultFleetConfigMap },
			{ ...inAnchor, verb: "list", resource: "pods" },
			// A WebSocket begins with a GET.
			{ ...inAnchor, verb: "create", resource: "pods", subresource: "portforward" },
			{ ...inAnchor, verb: "get", resource: "pods", subresource: "portforward" },
		],
		token: [{ ...inAnchor, verb: "create", resource: "serviceaccounts", subresource: "token", name: account }],
		evict: [
			...["get", "list", "watch"].map((verb) => ({ ...ofPods, verb })),
			{ ...ofPods, verb: "create", subresource: "eviction" },
		],
		drain: [
			...["get", "list", "patch"].map((verb) => ({ verb, group: "", resource: "nodes" })),
			...owners("apps", ["daemonsets"]),
		],
		read: [
			...owners("apps", apps.slice(1)),
			...owners("", ["replicationcontrollers"]),
			...owners("batch", ["jobs"]),
			{ ...ofPods, verb: "list", group: "policy", resource: "poddisruptionbudgets" },
			{ ...ofPods, verb: "list", group: budgetApi.group, resource: budgetApi.resource },
			{ verb: "list", group: "", resource: "persistentvolumes" },
			{ ...ofPods, verb: "list", resource: "persistentvolumeclaims" },
		],
	} as const satisfies Readonly<Record<string, readonly Right[]>>;
}

/**
 * Returns the rights that an installation needs, for the objects of the shipped manifests, the certificates' Secrets and the fleet's
 * ConfigMaps.
 */
export function installRights(agentNamespace: string): readonly Right[] {
	const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "", namespace: agentNamespace } };
	const fleet = { ...secret, kind: "ConfigMap" };
	const places = [...deployManifests(agentNamespace), secret, fleet].map(({ apiVersion, kind, metadata }) => ({
		group: apiVersion.includes("/") ? (apiVersion.split("/")[0] ?? "") : "",
		resource: pluralOf(kind),
		...(metadata.namespace !== undefined && { namespace: metadata.namespace }),
	}));
	const distinct = new Map(places.map((place) => [JSON.stringify(place), place]));
	return [
		...[...distinct.values()].flatMap((place) => ["get", "create", "patch"].map((verb) => ({ verb, ...place }))),
		// To find the existing teams.
		{ verb: "list", group: "rbac.authorization.k8s.io", resource: "rolebindings" },
	];
}

/** Returns, for example, "create pods/eviction in namespace shop". */
export function rightText({ verb, group, resource, subresource, name, namespace }: Right): string {
	const what = `${resource}${group === "" ? "" : `.${group}`}${subresource === undefined ? "" : `/${subresource}`}`;
	return `${verb} ${what}${name === undefined ? "" : ` "${name}"`}${namespace === undefined ? "" : ` in namespace ${namespace}`}`;
}

// The served kinds: built-in ones from tables, others from their CustomResourceDefinition, whose schema and CEL rules have no effect.
import { isRecord } from "../../disruption/record.ts";
import { type ApiObject, listAt, textAt, valueAt } from "./api-object.ts";

export interface PrinterColumn {
	readonly name: string;
	readonly type: string;
	readonly path: string;
}

export interface ResourceType {
	/** The key in the store, for example "pods" or "leases.coordination.k8s.io". */
	readonly key: string;
	readonly group: string;
	readonly version: string;
	readonly plural: string;
	readonly kind: string;
	readonly namespaced: boolean;
	readonly shortNames: readonly string[];
	/** Names as in discovery, for example "status" or "scale". */
	readonly subresources: readonly string[];
	/** Set only for kinds of a CustomResourceDefinition, which refuse strategic merge patches. */
	readonly custom?: { readonly columns: readonly PrinterColumn[] };
	/** The path of the number of replicas, for kinds with "scale". */
	readonly replicasPath?: string;
}

type Row = readonly [group: string, plural: string, kind: string, shortNames: string, subresources: string];

const namespaced: readonly Row[] = [
	["", "pods", "Pod", "po", "status eviction portforward"],
	["", "configmaps", "ConfigMap", "cm", ""],
	["", "secrets", "Secret", "", ""],
	["", "services", "Service", "svc", "status"],
	["", "serviceaccounts", "ServiceAccount", "sa", "token"],
	["", "events", "Event", "ev", ""],
	// Kubernetes serves the same Events in both groups. Here they are separate, because no client reads both.
	["events.k8s.io", "events", "Event", "", ""],
	["", "replicationcontrollers", "ReplicationController", "rc", "status scale"],
	["apps", "deployments", "Deployment", "deploy", "status scale"],
	["apps", "replicasets", "ReplicaSet", "rs", "status scale"],
	["apps", "statefulsets", "StatefulSet", "sts", "status scale"],
	["apps", "daemonsets", "DaemonSet", "ds", "status"],
	["batch", "jobs", "Job", "", "status"],
	["policy", "poddisruptionbudgets", "PodDisruptionBudget", "pdb", "status"],
	["coordination.k8s.io", "leases", "Lease", "", ""],
	["rbac.authorization.k8s.io", "roles", "Role", "", ""],
	["rbac.authorization.k8s.io", "rolebindings", "RoleBinding", "", ""],
	// Stored without effect.
	["networking.k8s.io", "networkpolicies", "NetworkPolicy", "netpol", ""],
];

const clusterWide: readonly Row[] = [
	["", "namespaces", "Namespace", "ns", "status"],
	["", "nodes", "Node", "no", "status"],
	["rbac.authorization.k8s.io", "clusterroles", "ClusterRole", "", ""],
	["rbac.authorization.k8s.io", "clusterrolebindings", "ClusterRoleBinding", "", ""],
	// Stored but not evaluated: the small API server allows what they would refuse.
	["admissionregistration.k8s.io", "validatingadmissionpolicies", "ValidatingAdmissionPolicy", "", "status"],
	["admissionregistration.k8s.io", "validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding", "", ""],
	["apiextensions.k8s.io", "customresourcedefinitions", "CustomResourceDefinition", "crd crds", "status"],
];

/** Answered and never stored. */
const reviews: readonly Row[] = [
	["authentication.k8s.io", "tokenreviews", "TokenReview", "", ""],
	["authorization.k8s.io", "subjectaccessreviews", "SubjectAccessReview", "", ""],
	["authorization.k8s.io", "selfsubjectaccessreviews", "SelfSubjectAccessReview", "", ""],
	["authorization.k8s.io", "selfsubjectrulesreviews", "SelfSubjectRulesReview", "", ""],
];

function typeOf([group, plural, kind, shortNames, subresources]: Row, isNamespaced: boolean): ResourceType {
	return {
		key: group === "" ? plural : `${plural}.${group}`,
		group,
		version: "v1",
		plural,
		kind,
		namespaced: isNamespaced,
		shortNames: shortNames.split(" ").filter((name) => name !== ""),
		subresources: subresources.split(" ").filter((name) => name !== ""),
		...(subresources.includes("scale") && { replicasPath: "spec.replicas" }),
	};
}

const builtIn = [
	...namespaced.map((row) => typeOf(row, true)),
	...[...clusterWide, ...reviews].map((row) => typeOf(row, false)),
];

export function isReview(type: ResourceType): boolean {
	return reviews.some(([group, plural]) => group === type.group && plural === type.plural);
}

export function builtInType(key: string): ResourceType {
	const type = builtIn.find((each) => each.key === key);
	if (!type) throw new Error(`There is no built-in resource "${key}"`);
	return type;
}

/** Returns a type for each served version of a CustomResourceDefinition. */
export function customTypes(definition: ApiObject): ResourceType[] {
	const { spec } = definition;
	const group = textAt(spec, "group");
	return listAt(spec, "versions")
		.filter((version) => version["served"] === true)
		.map((version) => ({
			key: `${textAt(spec, "names.plural")}.${group}`,
			group,
			version: textAt(version, "name"),
			plural: textAt(spec, "names.plural"),
			kind: textAt(spec, "names.kind"),
			namespaced: textAt(spec, "scope") === "Namespaced",
			shortNames: texts(valueAt(spec, "names.shortNames")),
			subresources: Object.keys(isRecord(version["subresources"]) ? version["subresources"] : {}),
			replicasPath: textAt(version, "subresources.scale.specReplicasPath").replace(/^\./, ""),
			custom: {
				columns: listAt(version, "additionalPrinterColumns").map((column) => ({
					name: textAt(column, "name"),
					type: textAt(column, "type"),
					path: textAt(column, "jsonPath").replace(/^\./, ""),
				})),
			},
		}));
}

export function servedTypes(definitions: readonly ApiObject[]): readonly ResourceType[] {
	return [...builtIn, ...definitions.flatMap(customTypes)];
}

export function apiVersionOf({ group, version }: Pick<ResourceType, "group" | "version">): string {
	return group === "" ? version : `${group}/${version}`;
}

function texts(value: unknown): string[] {
	return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

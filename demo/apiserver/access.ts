// Authorizes requests by RBAC. Reads the roles and bindings in the store at each request.
import { type ApiObject, type JsonObject, listAt, textAt, valueAt } from "./api-object.ts";
import type { User } from "./api-request.ts";
import type { ObjectStore } from "./object-store.ts";

/** The attributes of a request, named as in a SubjectAccessReview. */
export interface Attributes {
	readonly verb: string;
	readonly group: string;
	/** For example "pods" or "pods/status". */
	readonly resource: string;
	readonly name: string;
	/** "" for the whole cluster. */
	readonly namespace: string;
}

export function mayAccess(store: ObjectStore, user: User, attributes: Attributes): boolean {
	if (user.groups.includes("system:masters")) return true;
	// Every authenticated user may review its own rights. In a real cluster, a default ClusterRole grants this.
	const isKnown = user.groups.includes("system:authenticated");
	if (isKnown && attributes.verb === "create" && attributes.resource.startsWith("self")) return true;
	return rulesIn(store, user, attributes.namespace).some((rule) => allows(rule, attributes));
}

/** Returns the user's cluster-wide rules and those for this namespace. A namespace "" adds none. */
export function rulesIn(store: ObjectStore, user: User, namespace: string): readonly JsonObject[] {
	const clusterWide = bindings(store, "clusterrolebindings", user);
	const inNamespace = bindings(store, "rolebindings", user).filter(
		({ metadata }) => namespace !== "" && metadata.namespace === namespace,
	);
	return [...clusterWide, ...inNamespace].flatMap((binding) => rulesOf(store, binding));
}

/** Returns the text that follows "is forbidden: ". */
export function refusalOf(user: User, { verb, group, resource, namespace }: Attributes): string {
	const where = namespace === "" ? "at the cluster scope" : `in the namespace ${JSON.stringify(namespace)}`;
	return `User ${JSON.stringify(user.name)} cannot ${verb} resource ${JSON.stringify(resource)} in API group ${JSON.stringify(group)} ${where}`;
}

function bindings(store: ObjectStore, plural: string, user: User): ApiObject[] {
	return store
		.list(`${plural}.rbac.authorization.k8s.io`)
		.filter((binding) => listAt(binding, "subjects").some((subject) => isSubject(subject, user, binding)));
}

function isSubject(subject: JsonObject, user: User, binding: ApiObject): boolean {
	const name = textAt(subject, "name");
	switch (subject["kind"]) {
		case "User":
			return user.name === name;
		case "Group":
			return user.groups.includes(name);
		case "ServiceAccount":
			return (
				user.name ===
				`system:serviceaccount:${textAt(subject, "namespace") || (binding.metadata.namespace ?? "")}:${name}`
			);
		default:
			return false;
	}
}

function rulesOf(store: ObjectStore, binding: ApiObject): readonly JsonObject[] {
	const name = textAt(binding, "roleRef.name");
	const isClusterRole = textAt(binding, "roleRef.kind") === "ClusterRole";
	const key = isClusterRole ? `/${name}` : `${binding.metadata.namespace ?? ""}/${name}`;
	const plural = isClusterRole ? "clusterroles" : "roles";
	return listAt(store.find(`${plural}.rbac.authorization.k8s.io`, key), "rules");
}

function allows(rule: JsonObject, { verb, group, resource, name }: Attributes): boolean {
	const has = (field: string, ...wanted: readonly string[]): boolean => {
		const list = valueAt(rule, field);
		return Array.isArray(list) && ["*", ...wanted].some((value) => list.includes(value));
	};
	const [, subresource] = resource.split("/");
	const anyWithSubresource = subresource === undefined ? [] : [`*/${subresource}`];
	const names = valueAt(rule, "resourceNames");
	const isNamed = !Array.isArray(names) || names.length === 0 || names.includes(name);
	return has("verbs", verb) && has("apiGroups", group) && has("resources", resource, ...anyWithSubresource) && isNamed;
}

// Finds the ServiceAccounts that can read the Secret with the CA's key, from the roles and bindings of its cluster.
import type { RbacV1Subject, V1ClusterRole, V1PolicyRule, V1RoleBinding } from "@kubernetes/client-node";
import { isNotFound } from "../kubernetes/api-error.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { authorityReference, authoritySecret } from "../install/certificate-objects.ts";
import { objectPath } from "../install/object-path.ts";

const rbac = "/apis/rbac.authorization.k8s.io/v1";

/** Returns "NAMESPACE/NAME" for each account, or the name of a group of accounts; undefined if this cluster does not keep the key. */
export async function readKeyReaders({ client, agents }: KubeContext): Promise<readonly string[] | undefined> {
	const { namespace } = agents;
	try {
		await client.get(objectPath(authorityReference(namespace)));
	} catch (error) {
		if (isNotFound(error)) return undefined;
		throw error;
	}
	const [roles, clusterRoles, bindings, clusterBindings] = await Promise.all([
		client.list<V1ClusterRole>(`${rbac}/namespaces/${namespace}/roles`),
		client.list<V1ClusterRole>(`${rbac}/clusterroles`),
		client.list<V1RoleBinding>(`${rbac}/namespaces/${namespace}/rolebindings`),
		client.list<V1RoleBinding>(`${rbac}/clusterrolebindings`),
	]);
	const reading = new Set([
		...namesOfReaders(roles).map((name) => `Role/${name}`),
		...namesOfReaders(clusterRoles).map((name) => `ClusterRole/${name}`),
	]);
	const subjects = [...bindings, ...clusterBindings]
		.filter(({ roleRef }) => reading.has(`${roleRef.kind}/${roleRef.name}`))
		.flatMap((binding) => (binding.subjects ?? []).filter((subject) => !isOfKubernetes(binding, subject)));
	return [...new Set(subjects.flatMap((subject) => accountsOf(subject, namespace)))].toSorted();
}

function namesOfReaders(roles: readonly V1ClusterRole[]): readonly string[] {
	return roles.filter(({ rules = [] }) => rules?.some(canRead)).map(({ metadata }) => metadata?.name ?? "");
}

/** Listing and watching Secrets also show their contents. */
function canRead({ apiGroups = [], resources = [], resourceNames = [], verbs }: V1PolicyRule): boolean {
	return (
		apiGroups.some((group) => group === "" || group === "*") &&
		resources.some((resource) => resource === "secrets" || resource === "*") &&
		(resourceNames.length === 0 || resourceNames.includes(authoritySecret)) &&
		verbs.some((verb) => ["get", "list", "watch", "*"].includes(verb))
	);
}

/**
 * Whether the binding and the account belong to one of Kubernetes' own controllers. The API server trusts these: an attacker who controls
 * one can get every Secret anyway. A user who may create a binding chooses its name, but only administrators of the cluster have accounts
 * in kube-system.
 */
function isOfKubernetes({ metadata }: V1RoleBinding, { kind, name, namespace }: RbacV1Subject): boolean {
	return kind === "ServiceAccount" && namespace === "kube-system" && metadata?.name === `system:controller:${name}`;
}

/** Returns the ServiceAccounts that the subject stands for. Human users and nodes are left out. */
function accountsOf({ kind, name, namespace }: RbacV1Subject, inNamespace: string): readonly string[] {
	if (kind === "ServiceAccount") return [`${namespace ?? inNamespace}/${name}`];
	const [, account] = /^system:serviceaccount:(.+)$/.exec(name) ?? [];
	if (kind === "User") return account === undefined ? [] : [account.replace(":", "/")];
	if (name === "system:serviceaccounts" || name === "system:authenticated") return ["every ServiceAccount"];
	const [, group] = /^system:serviceaccounts:(.+)$/.exec(name) ?? [];
	return group === undefined ? [] : [`every ServiceAccount of ${group}`];
}

import { expect, test } from "vitest";
import { readKeyReaders } from "../../../plugin/check/read-key-readers.ts";
import { ApiError } from "../../../plugin/kubernetes/api-error.ts";
import { newClient, newContext } from "../../support/build-context.ts";

const secrets = { apiGroups: [""], resources: ["secrets"], verbs: ["get"] };
const role = (name: string, rule: object) => ({ metadata: { name }, rules: [{ ...secrets, ...rule }] });
const binding = (name: string, kind: string, ...subjects: readonly object[]) => ({
	metadata: { name },
	roleRef: { kind, name },
	subjects,
});
const account = (name: string, namespace?: string) => ({ kind: "ServiceAccount", name, namespace });
const group = (name: string) => ({ kind: "Group", name });

const lists: Readonly<Record<string, readonly object[]>> = {
	"namespaces/xpdb-system/roles": [
		role("reader", {}),
		role("other-secret", { resourceNames: ["xpdb-agent-tls"] }),
		role("by-name", { resourceNames: ["xpdb-fleet-ca"], verbs: ["watch"] }),
		role("writer", { verbs: ["patch"] }),
		role("none", { resources: ["configmaps"] }),
	],
	clusterroles: [
		role("admin", { apiGroups: ["*"], resources: ["*"], verbs: ["*"] }),
		role("system:controller:collector", { apiGroups: ["*"], resources: ["*"], verbs: ["list"] }),
		{ metadata: { name: "empty" }, rules: null },
	],
	"namespaces/xpdb-system/rolebindings": [
		binding("reader", "Role", account("ci", "shop"), account("own"), group("system:masters")),
		binding("other-secret", "Role", account("a")),
		binding("by-name", "Role", group("system:serviceaccounts:web")),
		binding("writer", "Role", account("b")),
		binding("none", "Role", account("c")),
		binding("admin", "ClusterRole", { kind: "User", name: "system:serviceaccount:ops:robot" }),
		{ ...binding("reader", "ClusterRole", account("d")), subjects: undefined },
	],
	clusterrolebindings: [
		binding("admin", "ClusterRole", account("helm", "kube-system"), { kind: "User", name: "alice" }),
		binding("system:controller:collector", "ClusterRole", account("collector", "kube-system")),
	],
};

/** A user who may create bindings can name them like Kubernetes' own. */
const disguised: typeof lists = {
	...lists,
	clusterroles: [role("system:controller:ci", {})],
	"namespaces/xpdb-system/rolebindings": [binding("system:controller:ci", "ClusterRole", account("kube-system"))],
	clusterrolebindings: [
		binding("system:controller:ci", "ClusterRole", account("ci", "shop"), account("tiller", "kube-system")),
	],
};

const read = (objects: typeof lists) => {
	const client = newClient({
		get: () => ({}),
		list: (path: string) => objects[path.replace("/apis/rbac.authorization.k8s.io/v1/", "")] ?? [],
	});
	return readKeyReaders(newContext("eu", client));
};

test("readKeyReaders() names each account that a role of its namespace or of the cluster lets read the Secret", async () => {
	expect(await read(lists)).toEqual([
		"every ServiceAccount of web",
		"kube-system/helm",
		"ops/robot",
		"shop/ci",
		"xpdb-system/own",
	]);
});

test("readKeyReaders() hides no account because of its binding's name", async () => {
	expect(await read(disguised)).toEqual(["kube-system/tiller", "shop/ci", "xpdb-system/kube-system"]);
});

test("readKeyReaders() has nothing to say of a cluster that does not keep the key", async () => {
	const client = newClient({
		get: () => {
			throw new ApiError("not found", { code: 404 });
		},
	});
	expect(await readKeyReaders(newContext("eu", client))).toBeUndefined();
});

import { describe, expect, test } from "vitest";
import { managedByLabel } from "../../../disruption/agent-names.ts";
import { objectText } from "../../../plugin/install/cluster-object.ts";
import type { InstalledCluster } from "../../../plugin/install/find-installed.ts";
import { findForeignObjects } from "../../../plugin/install/foreign-objects.ts";
import { ApiError } from "../../../plugin/kubernetes/api-error.ts";
import { newClient, newContext } from "../../support/build-context.ts";

const served = (kind: string, name: string, more: object = {}) => ({
	kind,
	name,
	namespaced: true,
	verbs: ["list", "delete"],
	...more,
});
const discovery: Readonly<Record<string, object>> = {
	"/api/v1": {
		resources: [
			served("ConfigMap", "configmaps"),
			served("Secret", "secrets"),
			served("ServiceAccount", "serviceaccounts"),
			served("Event", "events"),
			served("Pod", "pods/log"),
			served("Node", "nodes", { namespaced: false }),
			served("Binding", "bindings", { verbs: ["create"] }),
		],
	},
	"/apis": {
		groups: [{ preferredVersion: { groupVersion: "apps/v1" } }, { preferredVersion: { groupVersion: "x.io/v1" } }],
	},
	"/apis/apps/v1": { resources: [served("Deployment", "deployments"), served("ReplicaSet", "replicasets")] },
	"/apis/x.io/v1": { resources: [served("Widget", "widgets")] },
};

/** Finds foreign objects in a namespace with these contents, by plural. An ApiError is the answer to that list. */
function findIn(
	contents: Readonly<Record<string, readonly object[] | ApiError>>,
	more: Partial<InstalledCluster> = {},
) {
	const client = newClient({
		get: (path) => discovery[path],
		list(path) {
			const [, namespace = "", plural = ""] = /\/namespaces\/([^/]+)\/(\w+)$/.exec(path) ?? [];
			expect(namespace).toBe("xpdb-system");
			const found = contents[plural] ?? [];
			if (found instanceof ApiError) throw found;
			return found.map((metadata) => ({ kind: "PartialObjectMetadata", metadata: { namespace, ...metadata } }));
		},
	});
	const named = (apiVersion: string, kind: string, name: string, namespace?: string) => {
		return { apiVersion, kind, metadata: { name, ...(namespace !== undefined && { namespace }) } };
	};
	return findForeignObjects({
		context: newContext("eu", client),
		id: "id-eu",
		fleet: undefined,
		objects: [named("apps/v1", "Deployment", "xpdb-agent", "xpdb-system"), named("v1", "Namespace", "xpdb-system")],
		keptNamespace: undefined,
		keptCertificates: [],
		definition: undefined,
		budgets: 0,
		...more,
	});
}

describe("findForeignObjects()", () => {
	test("names what no installation made, of every kind", async () => {
		const { objects, unread } = await findIn({
			deployments: [{ name: "xpdb-agent" }, { name: "web" }],
			secrets: [{ name: "login" }, { name: "xpdb-agent-tls", labels: { [managedByLabel]: "kubectl-xpdb" } }],
			widgets: [{ name: "w" }],
		});
		expect(objects.map(objectText)).toEqual(["secret/login", "deployment.apps/web", "widget.x.io/w"]);
		expect(unread).toEqual([]);
	});

	test("leaves out what Kubernetes makes, and what goes with another object", async () => {
		const { objects } = await findIn({
			configmaps: [{ name: "kube-root-ca.crt" }],
			serviceaccounts: [{ name: "default" }],
			secrets: [{ name: "token", annotations: { "kubernetes.io/service-account.name": "default" } }],
			events: [{ name: "e" }],
			replicasets: [{ name: "web-1", ownerReferences: [{ kind: "Deployment", name: "web" }] }],
		});
		expect(objects).toEqual([]);
	});

	test("names kinds that cannot be listed", async () => {
		const forbidden = new ApiError("forbidden", { code: 403, reason: "Forbidden" });
		expect(await findIn({ widgets: forbidden })).toEqual({ objects: [], unread: ["x.io/v1/widgets"] });
	});

	test("asks for nothing where the namespace stays", async () => {
		expect(await findIn({ secrets: [{ name: "login" }] }, { objects: [] })).toEqual({ objects: [], unread: [] });
	});
});

import { describe, expect, test } from "vitest";
import { managedByLabel } from "../../../disruption/agent-names.ts";
import { findInstalled } from "../../../plugin/install/find-installed.ts";
import { agentNamespaceLabel } from "../../../plugin/install/fleet-objects.ts";
import { newClient, newContext, notFound } from "../../support/build-context.ts";

const ours = (namespace: string) => ({ [managedByLabel]: "kubectl-xpdb", [agentNamespaceLabel]: namespace });

/** Returns what is found in a cluster with these objects. Keys are the ends of their paths. Values are their labels or annotations. */
function found(objects: Readonly<Record<string, object>>, annotations: Readonly<Record<string, object>> = {}) {
	const client = newClient({
		get: (path) => {
			if (path === "/version") return { major: "1", minor: "36", gitVersion: "v1.36.0" };
			if (path.endsWith("/namespaces/kube-system")) return { metadata: { uid: "id-eu" } };
			const [end, labels] = Object.entries(objects).find(([each]) => path.endsWith(`/${each}`)) ?? [];
			if (end === undefined) throw notFound(path);
			const name = path.split("/").at(-1);
			const isInNamespace = /\/namespaces\/[^/]+\//.test(path);
			return {
				metadata: {
					name,
					labels,
					annotations: annotations[end],
					...(isInNamespace && { namespace: "xpdb-system" }),
				},
			};
		},
		list: () => [],
	});
	return findInstalled(newContext("eu", client));
}

const names = (objects: readonly { readonly kind: string; readonly metadata: { readonly name: string } }[]) =>
	objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);

describe("findInstalled()", () => {
	test("refuses where the agents are those of another namespace, whose roles and policies would go", async () => {
		await expect(found({ "clusterroles/xpdb-agent": ours("platform") })).rejects.toMatchObject({
			message: "eu: xpdb is installed in namespace platform there, not in xpdb-system: nothing was touched",
			hint: "Use --agent-namespace=platform",
		});
	});

	test("leaves a CA that a person put there, and the namespace that it is in", async () => {
		const cluster = await found({
			"namespaces/xpdb-system": ours("xpdb-system"),
			"secrets/xpdb-fleet-ca": {},
			"secrets/xpdb-agent-tls": ours("xpdb-system"),
		});
		expect(names(cluster.objects)).toEqual(["Secret xpdb-agent-tls"]);
		expect(names(cluster.keptCertificates)).toEqual(["Secret xpdb-fleet-ca"]);
		expect(cluster.keptNamespace?.metadata.name).toBe("xpdb-system");
	});

	test("takes the CA that an installation made, with its namespace", async () => {
		const labels = ours("xpdb-system");
		const cluster = await found({ "namespaces/xpdb-system": labels, "secrets/xpdb-fleet-ca": labels });
		expect(names(cluster.objects)).toEqual(["Secret xpdb-fleet-ca", "Namespace xpdb-system"]);
		expect([cluster.keptCertificates, cluster.keptNamespace]).toEqual([[], undefined]);
	});

	test("leaves the certificates that a person put there, and takes the agents", async () => {
		const cluster = await found({
			"namespaces/xpdb-system": {},
			"secrets/xpdb-agent-tls": {},
			"configmaps/xpdb-ca": {},
			"deployments/xpdb-agent": {},
		});
		expect(names(cluster.objects)).toEqual(["Deployment xpdb-agent"]);
		expect(names(cluster.keptCertificates).toSorted()).toEqual(["ConfigMap xpdb-ca", "Secret xpdb-agent-tls"]);
	});

	const issued = { "secrets/xpdb-agent-tls": { "cert-manager.io/certificate-name": "xpdb-agent" } };

	test("takes what cert-manager made of our Certificate, and after that", async () => {
		const labels = ours("xpdb-system");
		const made = { "namespaces/xpdb-system": labels, "certificates/xpdb-agent": labels, "secrets/xpdb-agent-tls": {} };
		const cluster = await found(made, issued);
		expect(names(cluster.objects)).toEqual([
			"Certificate xpdb-agent",
			"Secret xpdb-agent-tls",
			"Namespace xpdb-system",
		]);
		expect(cluster.keptCertificates).toEqual([]);
		const another = await found(made, { "secrets/xpdb-agent-tls": { "cert-manager.io/certificate-name": "web" } });
		expect(names(another.keptCertificates)).toEqual(["Secret xpdb-agent-tls"]);
	});

	test("leaves a person's own Certificate of cert-manager, with its issuer and what was made of it", async () => {
		const theirs = { "issuers/xpdb-fleet-ca": {}, "certificates/xpdb-agent": {}, "secrets/xpdb-agent-tls": {} };
		const cluster = await found(theirs, issued);
		expect(cluster.objects).toEqual([]);
		expect(cluster.keptCertificates).toHaveLength(3);
	});
});

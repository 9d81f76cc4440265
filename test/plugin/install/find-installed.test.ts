import { describe, expect, test } from "vitest";
import { managedByLabel } from "../../../disruption/agent-names.ts";
import { findInstalled } from "../../../plugin/install/find-installed.ts";
import { agentNamespaceLabel } from "../../../plugin/install/fleet-objects.ts";
import { newClient, newContext, notFound } from "../../support/build-context.ts";

const ours = (namespace: string) => ({ [managedByLabel]: "kubectl-xpdb", [agentNamespaceLabel]: namespace });

/** A cluster with these objects, by the end of their paths, and their labels. */
function found(objects: Readonly<Record<string, object>>) {
	const client = newClient({
		get: (path) => {
			if (path === "/version") return { major: "1", minor: "36", gitVersion: "v1.36.0" };
			if (path.endsWith("/namespaces/kube-system")) return { metadata: { uid: "id-eu" } };
			const [, labels] = Object.entries(objects).find(([end]) => path.endsWith(`/${end}`)) ?? [];
			if (!labels) throw notFound(path);
			const name = path.split("/").at(-1);
			return { metadata: { name, labels, ...(path.includes("/secrets/") && { namespace: "xpdb-system" }) } };
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
			"secrets/xpdb-agent-tls": {},
		});
		expect(names(cluster.objects)).toEqual(["Secret xpdb-agent-tls"]);
		expect(cluster.keptAuthority?.metadata.name).toBe("xpdb-fleet-ca");
		expect(cluster.keptNamespace?.metadata.name).toBe("xpdb-system");
	});

	test("takes the CA that an installation made, with its namespace", async () => {
		const labels = ours("xpdb-system");
		const cluster = await found({ "namespaces/xpdb-system": labels, "secrets/xpdb-fleet-ca": labels });
		expect(names(cluster.objects)).toEqual(["Secret xpdb-fleet-ca", "Namespace xpdb-system"]);
		expect([cluster.keptAuthority, cluster.keptNamespace]).toEqual([undefined, undefined]);
	});
});

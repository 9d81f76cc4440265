// Plays a tenant who has all rights in one namespace of a cluster and pretends to be the agent there.
// Its server answers every operator with a fleet of one cluster without budgets. Its namespace has a CA, an account for tokens, and a pod
// labelled as an agent.
import { randomBytes } from "node:crypto";
import { Server, ServerCredentials } from "@grpc/grpc-js";
import type { AgentPodObject } from "../../../demo/agents/agent-command.ts";
import { createAuthority, issueAgentCertificate } from "../../../demo/machine/certificates.ts";
import { supportedFeatures } from "../../../disruption/budget/budget.ts";
import { fleetHash } from "../../../disruption/budget/fleet.ts";
import type { AgentServiceServer } from "../../../proto/gen/xpdb/v1/agent.ts";
import { AgentServiceService } from "../../../proto/gen/xpdb/v1/agent.ts";
import { createAdminClient } from "../../controlplane/admin-client.ts";
import { forwardPorts } from "../../controlplane/port-forwards.ts";
import { sharedFleet } from "../../controlplane/shared-fleet.ts";
import { getJson, podsPath } from "../get-json.ts";
import { eventually, kubectl } from "../kubectl.ts";
import { removeNamespace } from "../remove-namespace.ts";

export interface TenantAgent extends AsyncDisposable {
	readonly namespace: string;
	/** The names of the called methods. */
	readonly asked: readonly string[];
	setReady(ready: boolean): Promise<void>;
	deletePod(): Promise<void>;
}

/** Sorts before every agent's name, because agents are called in this order. */
const podName = "a-tenant";
let tenants = 0;

export async function startTenantAgent(cluster: string): Promise<TenantAgent> {
	const { octet, clusters } = sharedFleet();
	const at = clusters.findIndex(({ name }) => name === cluster);
	const known = clusters[at];
	if (!known) throw new Error(`There is no cluster ${cluster}`);
	const namespace = `tenant-${randomBytes(4).toString("hex")}`;
	const asTenant = (...args: readonly string[]) => ["--as=mallory", "-n", namespace, ...args];
	await kubectl(cluster, ["create", "namespace", namespace]);
	await kubectl(cluster, [
		"-n",
		namespace,
		"create",
		"rolebinding",
		"mallory",
		"--clusterrole=admin",
		"--user=mallory",
	]);
	const authority = await createAuthority("tenant");
	tenants += 1;
	// Avoids the addresses of the clusters' pods, which are below 127.OCTET.100.
	const address = `127.${octet}.${at + 101}.${tenants}`;
	const pair = await issueAgentCertificate(authority, { clusterId: known.id, address });
	const asked: string[] = [];
	const server = await startServer(`${address}:8443`, pair, answersOfFleetOfOne(known.id, asked));

	await kubectl(
		cluster,
		asTenant("apply", "-f", "-"),
		JSON.stringify({ apiVersion: "v1", kind: "List", items: tenantObjects(authority.certificate) }),
	);
	const client = createAdminClient(known);
	const read = () => getJson<AgentPodObject>(cluster, `/api/v1/namespaces/${namespace}/pods/${podName}`);
	await eventually("the tenant's pod to have a node", async () => (await read()).spec.nodeName !== undefined);
	await forwardPorts(client, await read(), address);
	const setReady = async (ready: boolean): Promise<void> => {
		const status = ready ? "True" : "False";
		const patch = { status: { phase: "Running", podIP: address, conditions: [{ type: "Ready", status }] } };
		await kubectl(cluster, [
			"-n",
			namespace,
			"patch",
			"pod",
			podName,
			"--subresource=status",
			`--patch=${JSON.stringify(patch)}`,
		]);
	};
	await setReady(true);
	return {
		namespace,
		asked,
		setReady,
		async deletePod() {
			await kubectl(cluster, asTenant("delete", "pod", podName, "--grace-period=0", "--force"));
			await eventually("the tenant's pod to be gone", async () => {
				return (await getJson<{ items: unknown[] }>(cluster, podsPath(namespace))).items.length === 0;
			});
		},
		async [Symbol.asyncDispose]() {
			server.forceShutdown();
			client.close();
			await removeNamespace([cluster], namespace);
		},
	};
}

function tenantObjects(certificate: string): readonly object[] {
	const rbac = "rbac.authorization.k8s.io";
	return [
		{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "xpdb-ca" }, data: { "ca.crt": certificate } },
		{ apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "xpdb-operator" } },
		{
			apiVersion: "v1",
			kind: "Pod",
			metadata: { name: podName, labels: { "app.kubernetes.io/name": "xpdb-agent" } },
			spec: {
				serviceAccountName: "xpdb-operator",
				containers: [{ name: "agent", image: "none", args: ["--lease-namespace=xpdb-system"] }],
			},
		},
		// Operators need these rights to reach the tenant's agent at all.
		{
			apiVersion: `${rbac}/v1`,
			kind: "RoleBinding",
			metadata: { name: "operators" },
			roleRef: { apiGroup: rbac, kind: "ClusterRole", name: "admin" },
			subjects: [{ apiGroup: rbac, kind: "Group", name: "xpdb-operators" }],
		},
	];
}

/** Answers the first two calls of a run. All others fail. */
function answersOfFleetOfOne(clusterId: string, asked: string[]): Pick<AgentServiceServer, "describe" | "listBudgets"> {
	const hash = fleetHash([clusterId]);
	return {
		describe(_call, callback) {
			asked.push("describe");
			callback(null, {
				clusterId,
				clusterName: "alone",
				version: "0.2.0",
				features: [...supportedFeatures],
				members: [{ id: clusterId, name: "alone", address: "127.0.0.1:1" }],
				fleetHash: hash,
				leaseNamespace: "xpdb-system",
				unresolved: [],
				certificates: undefined,
				forgotten: [],
				heard: [],
				budgets: undefined,
				others: [],
			});
		},
		listBudgets(_call, callback) {
			asked.push("listBudgets");
			callback(null, { clusterId, fleetHash: hash, budgets: [] });
		},
	};
}

async function startServer(
	address: string,
	pair: { readonly certificate: string; readonly key: string },
	answers: Pick<AgentServiceServer, "describe" | "listBudgets">,
): Promise<Server> {
	const server = new Server();
	server.addService(AgentServiceService, { ...answers });
	const credentials = ServerCredentials.createSsl(null, [
		{ cert_chain: Buffer.from(pair.certificate), private_key: Buffer.from(pair.key) },
	]);
	await new Promise<void>((resolve, reject) => {
		server.bindAsync(address, credentials, (error) => (error ? reject(error) : resolve()));
	});
	return server;
}

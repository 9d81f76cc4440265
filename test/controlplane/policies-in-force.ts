// Waits until the shipped policies are in force. An API server enforces a new policy about a second after its creation.
import { setTimeout as delay } from "node:timers/promises";
import { type ApiClient, ApiError, strategicMergePatch } from "../../demo/machine/api-client.ts";
import { SetupError } from "../../demo/machine/setup-error.ts";
import { createAdminClient, inTheAgentsName, type KnownCluster } from "./admin-client.ts";

const timeoutMs = 30_000;

/**
 * Resolves when each shipped policy has refused a request that would change nothing. Throws SetupError after 30 s, or if xpdb-system has no
 * pod for such a request.
 */
export async function waitForPolicies(cluster: KnownCluster, signal?: AbortSignal): Promise<void> {
	const admin = createAdminClient(cluster);
	const agent = createAdminClient(cluster, inTheAgentsName);
	try {
		const probes = { "xpdb-leases": () => writeLease(admin), "xpdb-agent-pods": () => labelPod(agent) };
		const deadline = performance.now() + timeoutMs;
		for (const [policy, probe] of Object.entries(probes)) {
			while (!(await isRefused(policy, probe))) {
				signal?.throwIfAborted();
				if (performance.now() > deadline) {
					throw new SetupError(`Policy "${policy}" is not in force in ${cluster.name} after ${timeoutMs / 1000} s`);
				}
				await delay(100);
			}
		}
	} finally {
		admin.close();
		agent.close();
	}
}

async function isRefused(policy: string, probe: () => Promise<unknown>): Promise<boolean> {
	try {
		await probe();
		return false;
	} catch (error) {
		if (error instanceof ApiError && error.message.includes(`ValidatingAdmissionPolicy '${policy}'`)) return true;
		throw error;
	}
}

async function writeLease(client: ApiClient): Promise<void> {
	await client.send("POST", "/apis/coordination.k8s.io/v1/namespaces/xpdb-system/leases?dryRun=All", {
		apiVersion: "coordination.k8s.io/v1",
		kind: "Lease",
		metadata: { name: "xpdb-policy-probe" },
		spec: {},
	});
}

async function labelPod(client: ApiClient): Promise<void> {
	const pods = "/api/v1/namespaces/xpdb-system/pods";
	const { items } = await client.get<{ items: { metadata: { name: string } }[] }>(`${pods}?limit=1`);
	const name = items[0]?.metadata.name;
	if (name === undefined) throw new SetupError("There is no pod in xpdb-system to try the policies on");
	const patch = { metadata: { labels: { "xpdb-policy-probe": "true" } } };
	await client.send("PATCH", `${pods}/${name}/status?dryRun=All`, patch, strategicMergePatch);
}

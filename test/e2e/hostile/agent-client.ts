// Plays an attacker who has the agents' token and nothing else.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type ApiClient, createApiClient } from "../../../demo/machine/api-client.ts";
import { createAdminClient, type KnownCluster } from "../../controlplane/admin-client.ts";

/** Returns a client with a real token of the agents' ServiceAccount. */
export async function createAgentClient(cluster: KnownCluster): Promise<ApiClient> {
	const admin = createAdminClient(cluster);
	const path = "/api/v1/namespaces/xpdb-system/serviceaccounts/xpdb-agent/token";
	const request = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { expirationSeconds: 600 } };
	try {
		const { status } = await admin.send<{ status: { token: string } }>("POST", path, request);
		const authority = readFileSync(join(cluster.dir, "pki", "ca.crt"), "utf8");
		return createApiClient({ server: cluster.server, authority, credentials: { token: status.token } });
	} finally {
		admin.close();
	}
}

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ApiClient, Impersonation } from "../../demo/machine/api-client.ts";
import { createApiClient } from "../../demo/machine/api-client.ts";

/** A running cluster as another process knows it. */
export type KnownCluster = { readonly name: string; readonly server: string; readonly dir: string };

/**
 * The login of an administrator who acts in the agents' name. The shipped policies let only the agents write their Leases, so this client
 * acts as an intruder with the agents' identity.
 */
export const inTheAgentsName: Impersonation = {
	user: "system:serviceaccount:xpdb-system:xpdb-agent",
	groups: ["system:masters"],
};

/** Returns a client of the cluster's administrator, for any process on this machine. The client bypasses all links. */
export function createAdminClient({ server, dir }: KnownCluster, as?: Impersonation): ApiClient {
	const pki = (file: string) => readFileSync(join(dir, "pki", file), "utf8");
	return createApiClient({
		server,
		authority: pki("ca.crt"),
		credentials: { certificate: pki("admin.crt"), key: pki("admin.key") },
		...(as !== undefined && { as }),
	});
}

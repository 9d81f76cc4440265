import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ApiClient, Impersonation } from "../../demo/machine/api-client.ts";
import { createApiClient } from "../../demo/machine/api-client.ts";

export type KnownCluster = { readonly name: string; readonly server: string; readonly dir: string };

/** An administrator's login that impersonates the agents. The shipped policies let only the agents write their Leases. */
export const inTheAgentsName: Impersonation = {
	user: "system:serviceaccount:xpdb-system:xpdb-agent",
	groups: ["system:masters"],
};

/** Returns a client of the cluster's administrator that bypasses all links and works in any process on this machine. */
export function createAdminClient({ server, dir }: KnownCluster, as?: Impersonation): ApiClient {
	const pki = (file: string) => readFileSync(join(dir, "pki", file), "utf8");
	return createApiClient({
		server,
		authority: pki("ca.crt"),
		credentials: { certificate: pki("admin.crt"), key: pki("admin.key") },
		...(as !== undefined && { as }),
	});
}

// Deletes a test's namespace. Deletes its pods at once, so that no drain of a later test meets them.
import { isStatus } from "../../demo/machine/api-client.ts";
import { createAdminClient } from "../controlplane/admin-client.ts";
import { sharedFleet } from "../controlplane/shared-fleet.ts";

export async function removeNamespace(contexts: readonly string[], name: string): Promise<void> {
	const clusters = sharedFleet().clusters.filter((cluster) => contexts.includes(cluster.name));
	await Promise.all(
		clusters.map(async (cluster) => {
			// A new connection, because those to an API server that a test killed are closed.
			const client = createAdminClient(cluster);
			const remove = async (path: string): Promise<void> => {
				try {
					await client.send("DELETE", path);
				} catch (error) {
					// The object is gone or already being deleted.
					if (!isStatus(error, 404) && !isStatus(error, 409)) throw error;
				}
			};
			try {
				// From here on, no controller can create pods in the namespace.
				await remove(`/api/v1/namespaces/${name}`);
				await remove(`/api/v1/namespaces/${name}/pods?gracePeriodSeconds=0`);
			} finally {
				client.close();
			}
		}),
	);
}

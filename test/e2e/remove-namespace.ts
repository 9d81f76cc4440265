// The end of a test's namespace: its pods at once, so that no drain of a later test meets them, and the rest in its own time.
import { isStatus } from "../../demo/machine/api-client.ts";
import { createAdminClient } from "../controlplane/admin-client.ts";
import { sharedFleet } from "../controlplane/shared-fleet.ts";

export async function removeNamespace(contexts: readonly string[], name: string): Promise<void> {
	const clusters = sharedFleet().clusters.filter((cluster) => contexts.includes(cluster.name));
	await Promise.all(
		clusters.map(async (cluster) => {
			// Its own connection: those of before may have ended with an API server that a test has killed.
			const client = createAdminClient(cluster);
			const remove = async (path: string): Promise<void> => {
				try {
					await client.send("DELETE", path);
				} catch (error) {
					// It is gone, or going already.
					if (!isStatus(error, 404) && !isStatus(error, 409)) throw error;
				}
			};
			try {
				// From here on nobody makes another pod in it.
				await remove(`/api/v1/namespaces/${name}`);
				await remove(`/api/v1/namespaces/${name}/pods?gracePeriodSeconds=0`);
			} finally {
				client.close();
			}
		}),
	);
}

// Refuses two contexts of one cluster: pods would count twice, and everything would be written twice.
import { sameClusterError } from "../terminal/errors.ts";

/** Throws UsageError. */
export function refuseSameCluster(contexts: Iterable<readonly [name: string, clusterId: string]>): void {
	const seen = new Map<string, string>();
	for (const [name, clusterId] of contexts) {
		const other = seen.get(clusterId);
		if (other !== undefined) throw sameClusterError(other, name, clusterId);
		seen.set(clusterId, name);
	}
}

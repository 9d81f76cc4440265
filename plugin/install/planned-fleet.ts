// What is to be in each cluster: from the flags, and, where these say nothing, from what is there.
import { UsageError } from "../terminal/errors.ts";
import type { ClusterObject } from "./cluster-object.ts";
import { fleetObjects } from "./fleet-objects.ts";
import type { FoundCluster } from "./found-cluster.ts";
import type { InstallOptions } from "./install-options.ts";
import { type PlannedMembers, planMembers } from "./plan-members.ts";

export interface PlannedCluster {
	readonly found: FoundCluster;
	/** In the order in which they are applied. */
	readonly objects: readonly ClusterObject[];
}

export interface PlannedFleet extends PlannedMembers {
	readonly clusters: readonly PlannedCluster[];
}

/** Throws UsageError for what does not go together. */
export function planFleet(
	found: readonly FoundCluster[],
	options: Pick<InstallOptions, "image" | "imagePullSecret" | "operators" | "addresses">,
): PlannedFleet {
	const candidates = found.map(({ context, id, fleet }) => ({ name: context.name, id, fleet }));
	const planned = planMembers(candidates, options.addresses);
	const { members, forgotten } = planned;
	const elsewhere = found.find(({ image }) => image !== undefined);
	const operators = found.find((cluster) => cluster.operators.length > 0)?.operators ?? [];
	const clusters = found.map((cluster): PlannedCluster => {
		// A cluster that joins gets what the others have.
		const { image, imagePullSecret } = cluster.image === undefined ? { ...elsewhere } : cluster;
		const objects = fleetObjects({
			agentNamespace: cluster.context.agents.namespace,
			image: options.image ?? image ?? refuseNoImage(),
			imagePullSecret: options.imagePullSecret ?? imagePullSecret,
			members,
			forgotten,
			operators:
				options.operators.length > 0 ? options.operators : cluster.operators.length > 0 ? cluster.operators : operators,
		});
		return { found: cluster, objects };
	});
	return { ...planned, clusters };
}

function refuseNoImage(): never {
	throw new UsageError(
		"the agents' image is not known: nothing was touched",
		"Name it with --image, as the clusters can pull it: REGISTRY/NAME:TAG or REGISTRY/NAME@sha256:DIGEST",
	);
}

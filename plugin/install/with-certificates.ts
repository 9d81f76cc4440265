// Adds the certificates to a planned fleet's other objects.
import type { CertificateChoice } from "./certificate-flags.ts";
import { type CertificatePlan, planFleetCertificates } from "./fleet-certificates.ts";
import { ofInstallation } from "./fleet-objects.ts";
import { inAllClusters } from "./in-all-clusters.ts";
import { installStep } from "./install-step.ts";
import type { PlannedFleet } from "./planned-fleet.ts";
import { readClusterCertificates } from "./read-certificates.ts";

export interface CertifiedFleet extends Pick<CertificatePlan, "uses"> {
	readonly planned: PlannedFleet;
	readonly notes: readonly string[];
}

/** Reads the clusters' certificates and adds what is missing. Throws UsageError. */
export async function withCertificates(planned: PlannedFleet, choice: CertificateChoice): Promise<CertifiedFleet> {
	const found = await inAllClusters(planned.clusters, async ({ found: { context, id } }) =>
		installStep(context, "read the certificates", readClusterCertificates(context, id)),
	);
	const [first] = planned.clusters;
	if (!first) return { planned, notes: [], uses: [] };
	const { namespace } = first.found.context.agents;
	const plan = await planFleetCertificates(found, { ...choice, agentNamespace: namespace, now: new Date() });
	return { planned: merged(planned, plan, namespace), notes: plan.notes, uses: plan.uses };
}

function merged(planned: PlannedFleet, { objects }: CertificatePlan, agentNamespace: string): PlannedFleet {
	const clusters = planned.clusters.map((cluster) => {
		const more = objects.get(cluster.found.context.name) ?? [];
		return { ...cluster, objects: ofInstallation([...cluster.objects, ...more], agentNamespace) };
	});
	return { ...planned, clusters };
}

// Makes the Leases with which most runs begin.
import { leaseName } from "../../disruption/lease/lease.ts";
import type { SimulatedCluster } from "./simulated-cluster.ts";

/** Makes the Leases as a first round leaves them: without a holder, and with the version up to which that round listed. */
export function makeLeases(clusters: readonly SimulatedCluster[]): void {
	const names = new Set(clusters.flatMap(({ data }) => data.budgets.map(({ name }) => name)));
	for (const { server } of clusters) {
		for (const budget of names) {
			const observed = String(server.revision);
			server.createLease({
				name: leaseName({ namespace: "shop", name: budget }),
				labels: { "xpdb.form3.tech/budget-namespace": "shop", "app.kubernetes.io/managed-by": "xpdb-agent" },
				annotations: {
					"xpdb.form3.tech/budget": `shop/${budget}`,
					"xpdb.form3.tech/state": JSON.stringify({
						schema: 1,
						nonce: "earlier",
						phase: "released",
						renewals: 0,
						observed,
						controllers: [],
						holders: [],
						reservations: [],
					}),
				},
				spec: { leaseDurationSeconds: 1, leaseTransitions: 4 },
			});
		}
	}
}

// A cluster whose answers the test provides. `asked` records every call as [METHOD, ...ARGUMENTS].
import type { ServedCluster } from "../../agent/server/gate.ts";
import * as samples from "./samples.ts";

export interface FakeCluster extends ServedCluster {
	readonly asked: unknown[][];
}

export function createFakeCluster(
	answers: Partial<ServedCluster> = {},
	id: string = samples.clusterId,
	name = "eu-1",
): FakeCluster {
	const asked: unknown[][] = [];
	const count = { ...samples.count, clusterId: id };
	const defaults: ServedCluster = {
		id,
		name,
		acquire: async (request) => ({
			...samples.acquired,
			acquisition: { ...samples.acquisition, nonce: request.nonce },
			count,
		}),
		acquireHere: async (request, options) => cluster.acquire(request, options),
		count: async () => count,
		renew: async () => undefined,
		commit: async () => ({ kind: "stood" }),
		release: async () => undefined,
		confirm: async () => true,
		cancel: async () => undefined,
		describe: async () => ({
			clusterId: id,
			clusterName: name,
			version: "0.2.0",
			features: [],
			members: [],
			fleetHash: "5f",
			leaseNamespace: "xpdb-system",
		}),
		listBudgets: async () => ({ clusterId: id, fleetHash: "5f", budgets: [] }),
		listLeases: async () => samples.leases,
		listLeasesHere: async (scopes) => cluster.listLeases(scopes),
		endHolding: async () => true,
		look: async () => count,
		watchBudgets: async () => ({ kind: "unsupported" }),
	};
	const cluster: ServedCluster = { ...defaults, ...answers };
	const recorded = Object.fromEntries(
		Object.entries(cluster).map(([method, answer]: [string, unknown]) => [
			method,
			typeof answer === "function"
				? (...args: unknown[]): unknown => {
						asked.push([method, ...args]);
						return answer(...args);
					}
				: answer,
		]),
	) as unknown as ServedCluster;
	return { ...recorded, asked };
}

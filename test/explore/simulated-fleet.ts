// The fleet of one plugin process: like plugin/fleet/fleet.ts, but over the simulated network.
import { fleetHash } from "../../disruption/budget/fleet.ts";
import type { EvictionFleet } from "../../plugin/evictions/evictions.ts";
import { FleetUncoveredError } from "../../plugin/terminal/errors.ts";
import type { AgentCluster, AgentDescription } from "../../proto/agent-cluster.ts";

/** `contexts`: the clusters for which the process has contexts. `memberIds`: the members that the process knows at the start. */
export function simulatedFleet(
	contexts: readonly string[],
	memberIds: readonly string[],
	memberOf: (id: string) => AgentCluster,
): EvictionFleet {
	let members = memberIds.map(memberOf);
	return {
		get members() {
			return members;
		},
		memberOf: (context) => members.find(({ id }) => id === context),
		listBudgets: (namespaces) =>
			Promise.all(
				members.map(async (member) => {
					const { fleetHash: hash, budgets } = await member.listBudgets(namespaces);
					return { clusterId: member.id, clusterName: member.name, fleetHash: hash, budgets };
				}),
			),
		async reconnect() {
			const [first, ...others] = await Promise.all(contexts.map((id) => memberOf(id).describe()));
			if (!first) throw new Error("a plugin without a context");
			refuseDifferent([first, ...others]);
			const next = first.members.map(({ id }) => members.find((member) => member.id === id) ?? memberOf(id));
			refuseDifferent(await Promise.all(next.map((member) => member.describe())));
			members = next;
		},
	};
}

function refuseDifferent(descriptions: readonly AgentDescription[]): void {
	const [first] = descriptions;
	for (const description of descriptions) {
		const ids = description.members.map(({ id }) => id);
		const agrees = description.fleetHash === first?.fleetHash && fleetHash(ids) === description.fleetHash;
		if (agrees && ids.includes(description.clusterId)) continue;
		throw new FleetUncoveredError("cannot reach every cluster of the fleet", [
			`${description.clusterName}: declares another fleet`,
		]);
	}
}

// Finds what prevents clusters from forming one fleet, by comparing what their agents report. A list may differ, may leave out members that
// its cluster knows, or may name a member that cannot be reached.
//
// A difference refuses only this run. Nothing is written to any cluster, because a caller may not name members.
import { fleetHash } from "../../disruption/budget/fleet.ts";
import type { AgentDescription } from "../../proto/agent-cluster.ts";

export interface DescribedMember {
	/** The name of the context or of the member. */
	readonly name: string;
	readonly description: AgentDescription;
}

export interface FleetDifference {
	/** The name of the context or of the member. */
	readonly name: string;
	/**
	 * unresolved: its list leaves out a member that it knows. differs: its list differs from the others' lists, lacks the cluster itself,
	 * or does not fit its hash.
	 */
	readonly kind: "unresolved" | "differs";
	readonly message: string;
}

/** Returns one line for each difference. */
export function fleetDifferences(described: readonly DescribedMember[]): readonly string[] {
	return findFleetDifferences(described).map(({ name, message }) => `${name}: ${message}`);
}

export function findFleetDifferences(described: readonly DescribedMember[]): readonly FleetDifference[] {
	const hashes = new Set(described.map(({ description }) => description.fleetHash));
	const strangers = described.filter(
		({ description: { clusterId, members } }) => !members.some(({ id }) => id === clusterId),
	);
	const differs = ({ name }: DescribedMember, message: string): FleetDifference => ({ name, kind: "differs", message });
	return [
		...described.flatMap(({ name, description: { unresolved = [] } }) =>
			unresolved.map(
				(missing): FleetDifference => ({
					name,
					kind: "unresolved",
					message:
						`knows "${missing.name}" (id ${missing.id}) as a member, and its xpdb-fleet neither lists nor forgets it: ` +
						`list it again under members in every cluster, or add "- id: ${missing.id}" under forgotten in every cluster`,
				}),
			),
		),
		...strangers.map((stranger) => {
			const { description } = stranger;
			const message = `its own id ${description.clusterId} is not among the members that it declares (${memberNames(description)})`;
			return differs(stranger, message);
		}),
		...(hashes.size > 1
			? described.map((each) => differs(each, `declares the fleet ${memberNames(each.description)}`))
			: described
					.filter(({ description }) => fleetHash(description.members.map(({ id }) => id)) !== description.fleetHash)
					.map((each) => differs(each, "its agent's hash does not fit the members that it declares"))),
	];
}

/** Returns one line for each member that no context leads to and that no other member's agents can reach. */
export function membersWithoutWay(described: readonly DescribedMember[]): readonly string[] {
	const reached = new Set(described.map(({ description }) => description.clusterId));
	const missing = new Map(
		described.flatMap(({ description }) =>
			description.members
				.filter(({ id, address }) => address === undefined && !reached.has(id))
				.map(({ id, name }) => [id, name] as const),
		),
	);
	return [...missing].map(
		([id, name]) =>
			`${name} (id ${id}): ConfigMap xpdb-fleet has no address for it, so that no other member's agent can reach it: ` +
			"name a context of every member with --contexts",
	);
}

function memberNames({ members }: AgentDescription): string {
	return members.map(({ name }) => name).join(", ");
}

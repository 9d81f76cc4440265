// Asks each member's agents who is in the fleet, through the member's context or through the agents of other members.
import { AgentUnavailableError } from "../../disruption/errors.ts";
import type { FleetMember } from "../../disruption/budget/fleet.ts";
import type { AgentDescription } from "../../proto/agent-cluster.ts";
import { createMemberClient } from "../../proto/member-client.ts";
import { RemoteCluster } from "../../proto/remote-cluster.ts";
import type { AgentAccess, AgentAccessResult } from "../fleet/agent-access.ts";
import type { Reading } from "./check-report.ts";
import type { FleetColumn, PassedOn } from "./judge-fleet.ts";
import { type IdentifiedContext, matchMembers } from "./member-contexts.ts";
import { read } from "./read-cluster.ts";

/** The same number as for agents that are asked through their own context. */
const attempts = 3;

/**
 * Returns one column for each context, then one for each member that no context leads to. `idOf` has the cluster ids that the contexts' API
 * servers report.
 */
export async function readFleet(
	accesses: readonly (readonly [context: string, access: AgentAccessResult])[],
	idOf: ReadonlyMap<string, string>,
): Promise<readonly FleetColumn[]> {
	const reached = accesses.flatMap(([, access]) => (access.kind === "reached" ? [access] : []));
	const listed = new Map<string, FleetMember>();
	for (const { description } of reached) {
		for (const member of description.members) {
			const known = listed.get(member.id);
			// One list without the address is enough to report it as missing.
			if (!known || member.address === undefined) listed.set(member.id, member);
		}
	}
	const { contextOf, unknown } = matchMembers(identified(accesses, idOf), [...listed.values()]);
	const memberOf = new Map([...contextOf].map(([id, context]) => [context, listed.get(id)]));
	const own = accesses.map(async ([context, access]): Promise<FleetColumn> => {
		const member = memberOf.get(context);
		const description = describedBy(access);
		// If only our own connection to its agents fails, another member's agents may still reach them.
		const passedOn = description.kind === "unread" && member ? await describeThrough(reached, member) : description;
		const said = passedOn.kind === "read" ? passedOn : description;
		return { name: context, context, description: said, listed: member };
	});
	const others = [...listed.values()]
		.filter(({ id }) => !contextOf.has(id))
		.map(
			async (member): Promise<FleetColumn> => ({
				name: member.name,
				context: "",
				...(unknown.length > 0 && { mayBeBehind: unknown }),
				description: await describeThrough(reached, member),
				listed: member,
			}),
		);
	const passedOn = (await Promise.all(others)).toSorted((a, b) => (a.name < b.name ? -1 : 1));
	return [...(await Promise.all(own)), ...passedOn];
}

export function identified(
	accesses: readonly (readonly [context: string, access: AgentAccessResult])[],
	idOf: ReadonlyMap<string, string>,
): readonly IdentifiedContext[] {
	return accesses.map(([context, access]) => ({
		context,
		id: access.kind === "reached" ? access.description.clusterId : idOf.get(context),
	}));
}

function describedBy(access: AgentAccessResult): Reading<AgentDescription> {
	if (access.kind === "reached") return { kind: "read", value: access.description };
	return { kind: "unread", why: access.kind === "failed" ? "no agent was reached" : "it has no agents" };
}

/**
 * Asks the member through each reachable cluster's agents in turn. A silent member is asked at least three times, each time through
 * another cluster if possible. The first call between two agents waits for their connection, which can outlast the call's timeout on a
 * busy machine.
 */
async function describeThrough(
	reached: readonly AgentAccess[],
	{ id, name }: FleetMember,
): Promise<Reading<AgentDescription>> {
	let last: Reading<AgentDescription> = { kind: "unread", why: "no agent was reached that could be asked" };
	for (let attempt = 0; attempt < Math.max(reached.length, attempts); attempt += 1) {
		const access = reached[attempt % Math.max(reached.length, 1)];
		if (!access) return last;
		const member = new RemoteCluster({ id, name, client: access.client });
		let isSilent = false;
		const answer = createMemberClient({ id, name, routes: [{ calls: member }] })
			.describe()
			.catch((error: unknown) => {
				isSilent = error instanceof AgentUnavailableError;
				throw error;
			});
		try {
			last = await read(answer);
		} finally {
			member.close();
		}
		if (last.kind === "read") return last;
		// A member that answered with an error would do so again, so it is asked only through agents that have not tried yet.
		if (!isSilent && attempt + 1 >= reached.length) return last;
	}
	return last;
}

/** Asks, through these agents, each other member that has an address; undefined if no agent was reached. */
export async function readPeers(access: AgentAccessResult): Promise<readonly PassedOn[] | undefined> {
	if (access.kind !== "reached") return undefined;
	const { clusterId, members } = access.description;
	return Promise.all(
		members
			.filter(({ id, address }) => id !== clusterId && address !== undefined)
			.map(async (member) => ({ member: member.name, answer: await describeThrough([access], member) })),
	);
}

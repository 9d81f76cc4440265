// Who the agents say that the fleet is, each member for itself: behind its context, or passed on by those that are reached.
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

/** As many as a context's own agents have. */
const attempts = 3;

/** A column for each context, then one for each member that no context leads to. `idOf`: of the cluster behind a context, as its API server says it. */
export async function readFleet(
	accesses: readonly (readonly [context: string, access: AgentAccessResult])[],
	idOf: ReadonlyMap<string, string>,
): Promise<readonly FleetColumn[]> {
	const reached = accesses.flatMap(([, access]) => (access.kind === "reached" ? [access] : []));
	const listed = new Map<string, FleetMember>();
	for (const { description } of reached) {
		for (const member of description.members) {
			const known = listed.get(member.id);
			// One list without an address is enough for it to be missing.
			if (!known || member.address === undefined) listed.set(member.id, member);
		}
	}
	const { contextOf, unknown } = matchMembers(identified(accesses, idOf), [...listed.values()]);
	const memberOf = new Map([...contextOf].map(([id, context]) => [context, listed.get(id)]));
	const own = accesses.map(async ([context, access]): Promise<FleetColumn> => {
		const member = memberOf.get(context);
		const description = describedBy(access);
		// Where only our way to its agents is broken, those of another member still reach them.
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

/** The contexts, and whose they are by what is known. */
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
 * By whichever of them, in turn. Who is silent is asked three times, by another one each time where there is one: the first call between two
 * agents waits for their connection, which on a busy machine may take longer than a call.
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
		// What it answered it would answer again; another agent may know better.
		if (!isSilent && attempt + 1 >= reached.length) return last;
	}
	return last;
}

/** Each other member that has an address, asked through these agents; undefined where there are none. */
export async function readPeers(access: AgentAccessResult): Promise<readonly PassedOn[] | undefined> {
	if (access.kind !== "reached") return undefined;
	const { clusterId, members } = access.description;
	return Promise.all(
		members
			.filter(({ id, address }) => id !== clusterId && address !== undefined)
			.map(async (member) => ({ member: member.name, answer: await describeThrough([access], member) })),
	);
}

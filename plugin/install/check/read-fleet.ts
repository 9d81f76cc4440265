// Who the agents say that the fleet is, each member for itself: behind its context, or passed on by those that are reached.
import { AgentUnavailableError } from "../../../disruption/errors.ts";
import type { FleetMember } from "../../../disruption/fleet.ts";
import type { AgentDescription } from "../../../proto/agent-cluster.ts";
import { askingAgain } from "../../../proto/ask-again.ts";
import { RemoteCluster } from "../../../proto/remote-cluster.ts";
import type { AgentAccess, AgentAccessResult } from "../../fleet/agent-access.ts";
import type { Reading } from "./check-report.ts";
import type { FleetColumn, PassedOn } from "./judge-fleet.ts";
import { read } from "./read-cluster.ts";

/** As many as a context's own agents have. */
const attempts = 3;

/** A column for each context, then one for each member that no context leads to. */
export async function readFleet(
	accesses: readonly (readonly [context: string, access: AgentAccessResult])[],
	/** Of the clusters that contexts lead to, where their API servers say them. */
	ids: ReadonlySet<string>,
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
	const own = accesses.map(
		([context, access]): FleetColumn => ({
			name: context,
			context,
			description: describedBy(access),
			listed: access.kind === "reached" ? listed.get(access.description.clusterId) : undefined,
		}),
	);
	const behind = new Set([...ids, ...reached.map(({ description }) => description.clusterId)]);
	const others = [...listed.values()].filter(({ id }) => !behind.has(id));
	const passedOn = await Promise.all(
		others.map(
			async (member): Promise<FleetColumn> => ({
				name: member.name,
				context: "",
				description: await describeThrough(reached, member),
				listed: member,
			}),
		),
	);
	return [...own, ...passedOn.toSorted((a, b) => (a.name < b.name ? -1 : 1))];
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
		const answer = askingAgain(member)
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

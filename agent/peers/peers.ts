// Reaches the other members of the fleet at the addresses in the fleet's ConfigMap. Their certificates must name them.
import { AgentProtocolError, AgentUnavailableError } from "../../disruption/errors.ts";
import type { DeclaredFleet, FleetMember } from "../../disruption/budget/fleet.ts";
import type { AgentCluster } from "../../proto/agent-cluster.ts";
import { createMemberClient } from "../../proto/member-client.ts";
import { RemoteCluster } from "../../proto/remote-cluster.ts";
import type { RecentFleet } from "../cluster-api/recent-fleet.ts";
import { type Caller, passedOnCaller } from "./caller.ts";
import type { PeerClients } from "./peer-clients.ts";

/** Less than the caller's timeout of 5 s, so this agent can report which member did not answer. */
const peerDeadlineMs = 4_000;

interface PeersOptions {
	/** Not shared: connections that no member needs are closed. */
	readonly clients: PeerClients;
	readonly fleet: Pick<RecentFleet, "read" | "recent" | "lastRead">;
	readonly clusterId: string;
	/** For messages. */
	readonly clusterName: string;
}

export interface RouteOptions {
	/** For renewals: uses the member's last listed address, if there is one, without waiting until the list is read. */
	readonly renews?: boolean;
}

export class Peers {
	readonly #options: PeersOptions;

	constructor(options: PeersOptions) {
		this.#options = options;
	}

	/** Returns all members but this one. Each promise rejects if that member has no address. */
	async others(): Promise<readonly Promise<AgentCluster>[]> {
		return this.#others(await this.#options.fleet.read());
	}

	/**
	 * As others(), for calls on behalf of this caller, and from a list that may be 1 s old. The caller itself judges the membership by the
	 * members' answers.
	 */
	async othersFor(caller: Caller): Promise<readonly Promise<AgentCluster>[]> {
		return this.#others(await this.#options.fleet.recent(), caller);
	}

	#others({ members }: DeclaredFleet, caller?: Caller): readonly Promise<AgentCluster>[] {
		return members
			.filter(({ id }) => id !== this.#options.clusterId)
			.map(async (member) => this.#reach(member, members, caller));
	}

	/**
	 * Returns the member with that id, for calls on behalf of `caller`. Rejects with AgentProtocolError if the fleet has no such member,
	 * and with AgentUnavailableError if the member has no address.
	 *
	 * A renewal may safely use an old address: the certificate there must name the member, and the member checks callers by its own fleet.
	 */
	async member(clusterId: string, caller?: Caller, { renews = false }: RouteOptions = {}): Promise<AgentCluster> {
		const { fleet, clusterName } = this.#options;
		const before = renews ? fleet.lastRead(Infinity)?.members.find(({ id }) => id === clusterId) : undefined;
		if (before?.address !== undefined) return this.#at({ ...before, address: before.address }, caller);
		const { members } = await fleet.read();
		const member = members.find(({ id }) => id === clusterId);
		if (!member) {
			const known = members.map(({ id, name }) => `${name} (${id})`).join(", ");
			throw new AgentProtocolError(
				`cannot reach cluster id "${clusterId}" through cluster "${clusterName}": its fleet is ${known}`,
			);
		}
		return this.#reach(member, members, caller);
	}

	#reach(member: FleetMember, members: readonly FleetMember[], caller: Caller | undefined): AgentCluster {
		const { clients, clusterName } = this.#options;
		const { address } = member;
		if (address === undefined) {
			throw new AgentUnavailableError(
				`cannot reach cluster "${member.name}" through cluster "${clusterName}": its fleet gives no address for it; name a context of it with --contexts`,
				member.name,
			);
		}
		clients.keep(members.flatMap(({ id, address: at }) => (at === undefined ? [] : [{ id, address: at }])));
		return this.#at({ ...member, address }, caller);
	}

	#at({ id, name, address }: FleetMember & { readonly address: string }, caller: Caller | undefined): AgentCluster {
		const calls = new RemoteCluster({
			id,
			name,
			client: this.#options.clients.get({ id, address }),
			deadlineMs: peerDeadlineMs,
			askedBy: this.#options.clusterName,
			...(caller?.kind === "token" && { onBehalfOf: passedOnCaller(caller) }),
		});
		return createMemberClient({ id, name, routes: [{ calls }] });
	}
}

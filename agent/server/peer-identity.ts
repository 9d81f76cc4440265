// Identifies the member of the fleet that calls on the peer port.
//
// Guarantee: a call is admitted only with a valid certificate that has the name of all agents and names one cluster. That cluster is this
// one, or ConfigMap `xpdb-fleet` lists it. Greetings need only the certificate.
//
// Acquire, Count and Commit read the list again, so they refuse a removed member at its next call. Other calls accept a list that is at
// most 1 s old, but read it again before they refuse. A renewal accepts a list up to a lease duration old, because reading it may take
// longer than a handed-over Lease lasts. If a list is needed and cannot be read, the call is not admitted.
//
// Assumption: each certificate that the fleet's CA signs for a cluster names that cluster and no other. A CA is revoked by removing it from
// the bundle, and no connection outlives that (Certificates).
import { checkServerIdentity, type PeerCertificate } from "node:tls";
import type { DeclaredFleet } from "../../disruption/budget/fleet.ts";
import { leaseDurationMs } from "../../disruption/lease/lease.ts";
import { describeMember, findMemberId } from "../../proto/member-certificate.ts";
import type { RecentFleet } from "../cluster-api/recent-fleet.ts";

type PeerVerdict =
	| { readonly kind: "member"; readonly clusterId: string }
	/** The caller has no certificate that is valid for an agent. */
	| { readonly kind: "unauthenticated"; readonly reason: string }
	/** The agent's cluster is not a member. */
	| { readonly kind: "forbidden"; readonly reason: string };

interface PeerIdentityOptions {
	/** The name in the certificate of every agent. */
	readonly serverName: string;
	readonly local: { readonly id: string; readonly name: string };
	readonly fleet: Pick<RecentFleet, "read" | "recent" | "lastRead">;
	/** Milliseconds since 1970, by which certificates expire. */
	readonly wallClock: () => number;
}

interface PeerCall {
	/** Whether the member list is read again: for Acquire, Count and Commit. */
	readonly anew: boolean;
	/** Whether a member list up to a lease duration old is accepted: for Renew. */
	readonly renews?: boolean;
}

export class PeerIdentity {
	readonly #options: PeerIdentityOptions;

	constructor(options: PeerIdentityOptions) {
		this.#options = options;
	}

	/** Returns the cluster that the certificate names, member or not. For a greeting, this is the whole check. */
	certified(certificate: PeerCertificate | undefined): Exclude<PeerVerdict, { readonly kind: "forbidden" }> {
		const { serverName, wallClock } = this.#options;
		// The CA may also sign certificates for others: only this name identifies an agent.
		if (!certificate || checkServerIdentity(serverName, certificate)) {
			return { kind: "unauthenticated", reason: `cannot serve a peer without a certificate for "${serverName}"` };
		}
		const { valid_to: validTo, subjectaltname } = certificate;
		// A connection may outlive its certificate.
		if (!(Date.parse(validTo) > wallClock())) {
			return { kind: "unauthenticated", reason: `cannot serve a peer whose certificate expired at ${validTo}` };
		}
		const id = findMemberId(subjectaltname);
		if (id !== undefined) return { kind: "member", clusterId: id };
		const reason = `cannot serve a peer whose certificate is for ${describeMember(subjectaltname)}`;
		return { kind: "unauthenticated", reason };
	}

	/** Judges the certificate of a call. Rejects with AgentUnavailableError if the fleet cannot be read. */
	async check(certificate: PeerCertificate | undefined, { anew, renews = false }: PeerCall): Promise<PeerVerdict> {
		const { local, fleet } = this.#options;
		const certified = this.certified(certificate);
		if (certified.kind === "unauthenticated") return certified;
		const id = certified.clusterId;
		const isMember = ({ members }: DeclaredFleet): boolean => members.some((member) => member.id === id);
		if (id === local.id) return { kind: "member", clusterId: id };
		const before = renews ? fleet.lastRead(leaseDurationMs) : undefined;
		if (before && isMember(before)) return { kind: "member", clusterId: id };
		// A recent list can admit a caller, but only a new one can refuse it.
		if (!anew && isMember(await fleet.recent())) return { kind: "member", clusterId: id };
		const declared = await fleet.read();
		if (isMember(declared)) return { kind: "member", clusterId: id };
		const listed = declared.members.map((member) => `${member.name} (${member.id})`).join(", ");
		const reason =
			`cannot serve the agents of cluster id "${id}": it is not a member of the fleet of cluster "${local.name}", ` +
			`whose ConfigMap xpdb-fleet lists ${listed}`;
		return { kind: "forbidden", reason };
	}
}

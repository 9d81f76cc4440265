// Which member of the fleet calls on the peer port.
//
// Guaranteed: a call is let in only while its certificate is good, has the name of all agents, and names one cluster that
// ConfigMap `xpdb-fleet` lists, or this very one: a member that was taken out is out with the next call. The list is read
// anew for whatever takes or counts (Acquire, Count, Commit) and before anybody is turned away, and is at most a second old
// elsewhere, a lease's time where a Lease is renewed: it may take longer to read than a Lease lasts that was handed over, and who holds one was a member when
// it was got. Where it cannot be had, nobody is let in. Assumed: the fleet's CA signs no two clusters' names for one, and ends by leaving the bundle:
// connections do not outlive that (Certificates).
import { checkServerIdentity, type PeerCertificate } from "node:tls";
import type { DeclaredFleet } from "../../disruption/budget/fleet.ts";
import { leaseDurationMs } from "../../disruption/lease/lease.ts";
import { describeMember, findMemberId } from "../../proto/member-certificate.ts";
import type { RecentFleet } from "../cluster-api/recent-fleet.ts";

type PeerVerdict =
	| { readonly kind: "member"; readonly clusterId: string }
	/** No certificate that is good for an agent. */
	| { readonly kind: "unauthenticated"; readonly reason: string }
	/** An agent, of a cluster that is no member. */
	| { readonly kind: "forbidden"; readonly reason: string };

interface PeerIdentityOptions {
	/** The name in the certificate of every agent. */
	readonly serverName: string;
	/** This cluster. */
	readonly local: { readonly id: string; readonly name: string };
	readonly fleet: Pick<RecentFleet, "read" | "young" | "lately">;
	/** Milliseconds since 1970, by which certificates expire. */
	readonly wallClock: () => number;
}

interface PeerCall {
	/** It takes or counts. */
	readonly anew: boolean;
	/** It keeps what was taken. */
	readonly renews?: boolean;
}

export class PeerIdentity {
	readonly #options: PeerIdentityOptions;

	constructor(options: PeerIdentityOptions) {
		this.#options = options;
	}

	/** The cluster that the certificate names, a member or not: for those who greet. */
	certified(certificate: PeerCertificate | undefined): Exclude<PeerVerdict, { readonly kind: "forbidden" }> {
		const { serverName, wallClock } = this.#options;
		// The CA may have signed certificates for others too: only an agent's name makes an agent.
		if (!certificate || checkServerIdentity(serverName, certificate)) {
			return { kind: "unauthenticated", reason: `Cannot serve a peer without a certificate for "${serverName}"` };
		}
		const { valid_to: validTo, subjectaltname } = certificate;
		// A connection may be older than that.
		if (!(Date.parse(validTo) > wallClock())) {
			return { kind: "unauthenticated", reason: `Cannot serve a peer whose certificate expired at ${validTo}` };
		}
		const id = findMemberId(subjectaltname);
		if (id !== undefined) return { kind: "member", clusterId: id };
		const reason = `Cannot serve a peer whose certificate is for ${describeMember(subjectaltname)}`;
		return { kind: "unauthenticated", reason };
	}

	/** Judges the certificate of a call. Rejects with AgentUnavailableError where the fleet cannot be had. */
	async check(certificate: PeerCertificate | undefined, { anew, renews = false }: PeerCall): Promise<PeerVerdict> {
		const { local, fleet } = this.#options;
		const certified = this.certified(certificate);
		if (certified.kind === "unauthenticated") return certified;
		const id = certified.clusterId;
		const isMember = ({ members }: DeclaredFleet): boolean => members.some((member) => member.id === id);
		if (id === local.id) return { kind: "member", clusterId: id };
		const before = renews ? fleet.lately(leaseDurationMs) : undefined;
		if (before && isMember(before)) return { kind: "member", clusterId: id };
		// Who was no member a second ago may have become one.
		if (!anew && isMember(await fleet.young())) return { kind: "member", clusterId: id };
		const declared = await fleet.read();
		if (isMember(declared)) return { kind: "member", clusterId: id };
		const listed = declared.members.map((member) => `${member.name} (${member.id})`).join(", ");
		const reason =
			`Cannot serve the agents of cluster id "${id}": it is no member of the fleet of cluster "${local.name}", ` +
			`whose ConfigMap xpdb-fleet lists ${listed}`;
		return { kind: "forbidden", reason };
	}
}

// Which member of the fleet calls on the peer port.
//
// Guaranteed: a call is let in only while its certificate is good, has the name of all agents, and names one cluster that
// ConfigMap `xpdb-fleet` lists, or this very one: a member that was taken out is out with the next call. The list is read
// anew for whatever takes or counts (Acquire, Count, Commit), and is at most a second old elsewhere; where it cannot be
// had, nobody is let in. Assumed: the fleet's CA signs no two clusters' names for one, and ends by leaving the bundle:
// connections do not outlive that (Certificates).
import { checkServerIdentity, type PeerCertificate } from "node:tls";
import { describeMember, findMemberId } from "../proto/member-certificate.ts";
import type { DeclaredFleet } from "./cluster-api.ts";

export type PeerVerdict =
	| { readonly kind: "member"; readonly clusterId: string }
	/** No certificate that is good for an agent. */
	| { readonly kind: "unauthenticated"; readonly reason: string }
	/** An agent, of a cluster that is no member. */
	| { readonly kind: "forbidden"; readonly reason: string };

export interface PeerIdentityOptions {
	/** The name in the certificate of every agent. */
	readonly serverName: string;
	/** This cluster. */
	readonly local: { readonly id: string; readonly name: string };
	/** The fleet as it is declared now. */
	readonly getFleet: () => Promise<DeclaredFleet>;
	/** Milliseconds, monotonic. */
	readonly now: () => number;
	/** Milliseconds since 1970, by which certificates expire. */
	readonly wallClock: () => number;
}

/** How old the list may be where nothing is taken or counted. */
const listGoodForMs = 1_000;

export class PeerIdentity {
	readonly #options: PeerIdentityOptions;
	#list: { readonly fleet: Promise<DeclaredFleet>; readonly askedAt: number } | undefined;

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
	async check(certificate: PeerCertificate | undefined, { anew }: { readonly anew: boolean }): Promise<PeerVerdict> {
		const { local } = this.#options;
		const certified = this.certified(certificate);
		if (certified.kind === "unauthenticated") return certified;
		const id = certified.clusterId;
		if (id === local.id) return { kind: "member", clusterId: id };
		const { members } = await this.#fleet(anew);
		if (members.some((member) => member.id === id)) return { kind: "member", clusterId: id };
		const listed = members.map((member) => `${member.name} (${member.id})`).join(", ");
		const reason =
			`Cannot serve the agents of cluster id "${id}": it is no member of the fleet of cluster "${local.name}", ` +
			`whose ConfigMap xpdb-fleet lists ${listed}`;
		return { kind: "forbidden", reason };
	}

	async #fleet(anew: boolean): Promise<DeclaredFleet> {
		const now = this.#options.now();
		const known = this.#list;
		if (!anew && known && now - known.askedAt < listGoodForMs) return known.fleet;
		const list = { fleet: this.#options.getFleet(), askedAt: now };
		this.#list = list;
		try {
			return await list.fleet;
		} catch (error) {
			// A failure is no answer for the next call.
			if (this.#list === list) this.#list = undefined;
			throw error;
		}
	}
}

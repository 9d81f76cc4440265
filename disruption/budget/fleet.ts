// The declared set of clusters over which budgets hold.
import { createHash } from "node:crypto";

/** A cluster of the fleet, as a cluster declares it. */
export interface FleetMember {
	readonly id: string;
	readonly name: string;
	/** HOST:PORT of its agents, for the agents of other members. Left out if they do not connect to each other. */
	readonly address?: string;
}

/** A cluster that was a member, until a person declared it forgotten. */
export interface ForgottenMember {
	readonly id: string;
	/** For people. */
	readonly name?: string;
}

/** The fleet as this cluster declares it in ConfigMap `xpdb-fleet`. No id is in both lists. */
export interface DeclaredFleet {
	/** The version of the declaration. It changes with each write of the ConfigMap. Undefined if it cannot be known. */
	readonly version?: string;
	readonly members: readonly FleetMember[];
	readonly forgotten: readonly ForgottenMember[];
	/** The namespace of this cluster's Leases. If left out, it is the namespace of the declaration. */
	readonly leaseNamespace?: string;
}

/** Recently computed hashes by their input, because every count and every decision needs one. */
const hashes = new Map<string, string>();
const maxHashes = 100;

/** Returns a hash over the sorted ids of the members. Two clusters that declare the same fleet have the same hash. */
export function fleetHash(memberIds: readonly string[]): string {
	const text = [...new Set(memberIds)].toSorted().join("\n");
	const known = hashes.get(text);
	if (known !== undefined) return known;
	const made = createHash("sha256").update(text).digest("hex").slice(0, 32);
	if (hashes.size >= maxHashes) hashes.clear();
	hashes.set(text, made);
	return made;
}

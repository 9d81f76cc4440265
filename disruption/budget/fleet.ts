// The declared set of clusters over which budgets hold.
import { createHash } from "node:crypto";

export interface FleetMember {
	readonly id: string;
	readonly name: string;
	/** HOST:PORT of its agents, for the agents of other members. Left out if they do not connect to each other. */
	readonly address?: string;
}

export interface ForgottenMember {
	readonly id: string;
	readonly name?: string;
}

/** The fleet as this cluster declares it in ConfigMap `xpdb-fleet`. No id is in both lists. */
export interface DeclaredFleet {
	/** Changes with each write of the ConfigMap. Undefined if it is unknown. */
	readonly version?: string;
	readonly members: readonly FleetMember[];
	readonly forgotten: readonly ForgottenMember[];
	/** The namespace of this cluster's Leases. If left out, the Leases are in the namespace of the declaration. */
	readonly leaseNamespace?: string;
}

/** Caches hashes, because every count and every decision needs one. */
const hashes = new Map<string, string>();
const maxHashes = 100;

/** Two clusters that declare the same members have the same hash. */
export function fleetHash(memberIds: readonly string[]): string {
	const text = [...new Set(memberIds)].toSorted().join("\n");
	const known = hashes.get(text);
	if (known !== undefined) return known;
	const made = createHash("sha256").update(text).digest("hex").slice(0, 32);
	if (hashes.size >= maxHashes) hashes.clear();
	hashes.set(text, made);
	return made;
}

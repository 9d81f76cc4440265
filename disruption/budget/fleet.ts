// The declared set of clusters over which budgets hold.
import { createHash } from "node:crypto";

/** A cluster of the fleet as another one, or itself, declares it. */
export interface FleetMember {
	readonly id: string;
	readonly name: string;
	/** HOST:PORT of its agents; none where agents do not reach each other. */
	readonly address?: string;
}

/** A cluster that was a member and is none any more, by a person's word. */
export interface ForgottenMember {
	readonly id: string;
	/** For people. */
	readonly name?: string;
}

/** The fleet as this cluster declares it in ConfigMap `xpdb-fleet`; no id is in both lists. */
export interface DeclaredFleet {
	/** Of the declaration: another one wherever it was written in between. Undefined where that cannot be told. */
	readonly version?: string;
	readonly members: readonly FleetMember[];
	readonly forgotten: readonly ForgottenMember[];
	/** Where the Leases of this cluster stand; without it, beside the declaration. */
	readonly leaseNamespace?: string;
}

/** By what is hashed, of the fleets that were asked for lately: every count and every decision asks for its own. */
const hashes = new Map<string, string>();
const maxHashes = 100;

/** A hash over the sorted ids of the members; two clusters that declare the same fleet have the same hash. */
export function fleetHash(memberIds: readonly string[]): string {
	const text = [...new Set(memberIds)].toSorted().join("\n");
	const known = hashes.get(text);
	if (known !== undefined) return known;
	const made = createHash("sha256").update(text).digest("hex").slice(0, 32);
	if (hashes.size >= maxHashes) hashes.clear();
	hashes.set(text, made);
	return made;
}

// The declared set of clusters over which budgets hold.
import { createHash } from "node:crypto";

/** A hash over the sorted ids of the members; two clusters that declare the same fleet have the same hash. */
export function fleetHash(memberIds: readonly string[]): string {
	return createHash("sha256")
		.update([...new Set(memberIds)].toSorted().join("\n"))
		.digest("hex")
		.slice(0, 32);
}

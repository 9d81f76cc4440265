// Checks whether the acquisition of a commit still stands.
//
// Guarantee: a written acquisition stands as long as the Lease is held by exactly that acquisition. An optimistic hold stands only on the
// very Lease that was counted from, by its uid, version, transitions and state. So no run has acquired, committed or ended anything since.
// The commit's own write names that version, and acquires the Lease and commits in one step.
// Assumption: a write that names a version fails if the object has another one.
import { createHash } from "node:crypto";
import type { Acquisition } from "../budget/cluster.ts";
import { acquired, type BudgetLease, leaseDurationMs, stands } from "./lease.ts";
import { stateAnnotation } from "./lease-text.ts";

/**
 * Returns a hash by which an optimistic hold recognises the very Lease that was counted from. The version alone is not enough: an etcd that
 * was restored from a backup can give the same version to other content.
 */
export function leaseFingerprint({ uid, resourceVersion, transitions, annotations }: BudgetLease): string {
	const said = [uid, resourceVersion, String(transitions), annotations[stateAnnotation] ?? ""];
	return createHash("sha256").update(said.join(" ")).digest("base64url");
}

/**
 * Returns the Lease as this acquisition holds it when it commits, or undefined if the acquisition does not stand. For an optimistic hold,
 * the commit's write also acquires the Lease.
 */
export function heldUnder(lease: BudgetLease, acquisition: Acquisition): BudgetLease | undefined {
	const { unwritten, nonce } = acquisition;
	if (!unwritten) return stands(lease, acquisition) ? lease : undefined;
	if (lease.holder !== "" || leaseFingerprint(lease) !== unwritten.lease) return undefined;
	const taken = acquired(lease, { holder: unwritten.holder, nonce, durationMs: leaseDurationMs });
	return stands(taken, acquisition) ? taken : undefined;
}

// Whether an acquisition stands, for the commit that rests on it.
//
// Guarantee: one that was written stands while the Lease is held by exactly that one. One that was not written stands only on
// the very Lease that was counted from, by its version and all that it says: nobody has acquired, committed or ended anything
// since, and the commit's own write, which names that version, takes the Lease and commits in one. Assumption: a write that names
// a version fails where the object has another one.
import { createHash } from "node:crypto";
import type { Acquisition } from "../budget/cluster.ts";
import { acquired, type BudgetLease, leaseDurationMs, stands } from "./lease.ts";
import { stateAnnotation } from "./lease-text.ts";

/**
 * Another one for every Lease that says anything else: an unwritten hold stands only on the very Lease that was counted from.
 * By all that it says, because etcd that was restored from a backup gives the same version to something else.
 */
export function leaseFingerprint({ uid, resourceVersion, transitions, annotations }: BudgetLease): string {
	const said = [uid, resourceVersion, String(transitions), annotations[stateAnnotation] ?? ""];
	return createHash("sha256").update(said.join(" ")).digest("base64url");
}

/**
 * The Lease as the commit of this acquisition finds it held, or undefined where the acquisition does not stand. An unwritten
 * one is taken in that same write.
 */
export function heldUnder(lease: BudgetLease, acquisition: Acquisition): BudgetLease | undefined {
	const { unwritten, nonce } = acquisition;
	if (!unwritten) return stands(lease, acquisition) ? lease : undefined;
	if (lease.holder !== "" || leaseFingerprint(lease) !== unwritten.lease) return undefined;
	const taken = acquired(lease, { holder: unwritten.holder, nonce, durationMs: leaseDurationMs });
	return stands(taken, acquisition) ? taken : undefined;
}

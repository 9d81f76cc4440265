// A budget's Lease in one cluster, as its agent has seen it, for people. No decision may depend on it. It contains nothing with which a
// reader could commit, evict or cancel in the holder's name.
import type { BudgetName } from "../disruption/budget/budget.ts";

/** One budget, or all budgets of the namespace if there is no name. */
export type BudgetScope = Pick<BudgetName, "namespace"> & Partial<Pick<BudgetName, "name">>;

export interface ListedLease {
	readonly name: string;
	/** Undefined if the Lease does not name its budget. */
	readonly budget: BudgetName | undefined;
	/**
	 * Why the Lease cannot be read. Then nothing is granted under its budget, and holder, waiting callers and reservations are missing here.
	 */
	readonly problem?: string;
	readonly uid: string;
	/** Grows by one with every acquisition, so it identifies a hold of this Lease. */
	readonly transitions: number;
	/** Undefined if the Lease has no holder. */
	readonly holding: ListedHolding | undefined;
	/** How many callers wait for it. Undefined if the number is unknown. */
	readonly waiting: number | undefined;
	/** The oldest first, and possibly not all of them. */
	readonly reservations: readonly ListedReservation[];
	/** The number of all reservations. */
	readonly reserved: number;
}

/** Identifies one hold of a Lease, and no later one, by the Lease's uid and transitions. */
export interface HoldingReference {
	readonly budget: BudgetName;
	readonly leaseUid: string;
	readonly transitions: number;
}

export interface ListedHolding {
	/** As the holder names itself. */
	readonly holder: string;
	/** The verified user behind the holder, if the agent knows it. */
	readonly account?: string;
	/** Milliseconds since the agent first saw the hold. */
	readonly heldForMs: number;
	/** Milliseconds until the hold ends, unless it is renewed. At 0, another run may take the Lease. */
	readonly expiresInMs: number;
}

export interface ListedReservation {
	readonly pod: string;
	readonly uid: string;
	readonly holder: string;
	readonly account?: string;
	/** Both in seconds since the epoch: when the pod was granted, and about when agents begin to cancel the reservation. */
	readonly sinceSeconds: number;
	readonly untilSeconds: number;
	readonly cancelling: boolean;
}

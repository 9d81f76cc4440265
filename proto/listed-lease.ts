// A budget's Lease in one cluster as its agent has seen it, for people: no decision may rest on it. Nothing is in it by which
// anybody could commit, evict or cancel in the name of whoever holds it.
import type { BudgetName } from "../disruption/budget/budget.ts";

/** Without a name: all budgets of the namespace. */
export type BudgetScope = Pick<BudgetName, "namespace"> & Partial<Pick<BudgetName, "name">>;

export interface ListedLease {
	/** Of the object. */
	readonly name: string;
	/** Undefined where the Lease does not say. */
	readonly budget: BudgetName | undefined;
	/** Why it cannot be read: then nothing is granted under its budget, and what follows is empty. */
	readonly problem?: string;
	readonly uid: string;
	/** The fence: counts up with every acquisition. */
	readonly transitions: number;
	/** Undefined where nobody holds it. */
	readonly holding: ListedHolding | undefined;
	/** How many wait for it; undefined where nobody could say. */
	readonly waiting: number | undefined;
	/** The oldest first, and not all of them. */
	readonly reservations: readonly ListedReservation[];
	/** How many there are. */
	readonly reserved: number;
}

/** One holding of a Lease and no later one: by its fence. */
export interface HoldingReference {
	readonly budget: BudgetName;
	readonly leaseUid: string;
	readonly transitions: number;
}

export interface ListedHolding {
	/** As the holder calls itself. */
	readonly holder: string;
	/** The verified user behind the holder, where the agent knows. */
	readonly account?: string;
	/** Since the agent first saw it. */
	readonly heldForMs: number;
	/** 0: over, whoever wants it may take it. */
	readonly expiresInMs: number;
}

export interface ListedReservation {
	readonly pod: string;
	readonly uid: string;
	readonly holder: string;
	readonly account?: string;
	/** Both since the epoch: when it was granted, and when the agents begin to take it back. */
	readonly sinceSeconds: number;
	readonly untilSeconds: number;
	/** It is being taken back. */
	readonly cancelling: boolean;
}

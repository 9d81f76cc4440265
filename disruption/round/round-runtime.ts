// What a round needs from outside: a clock, ids, a timer and an observer.
import type { BudgetState } from "../budget/allowance.ts";
import type { BudgetName } from "../budget/budget.ts";
import type { PlaceInLine } from "../budget/cluster.ts";

export interface RoundRuntime {
	/** Returns monotonic milliseconds. */
	now(): number;
	/** Returns a new unguessable id: for a reservation, for a repeated count, or as the nonce of an acquisition. */
	newId(): string;
	/** Resolves after `ms`, or immediately when `signal` aborts. */
	sleep(ms: number, signal: AbortSignal): Promise<void>;
	/**
	 * Called when a hold or a reservation could not be given back. It ends by itself, by the lease time or by the fence. `giveBack` tries
	 * again and rejects if that fails too. It may be called at any time and repeatedly, because no eviction will be sent under what it gives
	 * back. Without `giveBack`, the renewal of a Lease failed, and is repeated while the Lease is held.
	 */
	onLeftBehind?(problem: unknown, giveBack?: () => Promise<void>): void;
}

/** Learns what happens in a round, for people. It must not change any answer. */
export interface RoundObserver {
	/** Called when all budgets were counted, with the state of each budget that neither refuses nor waits. Empty if the fleets differ. */
	counted(states: readonly BudgetState[]): void;
	/** The round waits in line for this Lease: another run holds it, or comes first in the line. */
	queued(place: PlaceInLine & { readonly cluster: string; readonly budget: BudgetName }): void;
	leaseAcquired(lease: ObservedLease & { readonly leaseDurationMs: number; readonly waitedMs: number }): void;
	/** Not called if the release failed, or if an optimistic hold was given up without a commit. */
	leaseReleased(lease: EndedLease): void;
	leaseLost(lease: EndedLease & { readonly message: string }): void;
}

export interface ObservedLease {
	readonly budget: BudgetName;
	/** The cluster's name. */
	readonly cluster: string;
	readonly holder: string;
}

export interface EndedLease extends ObservedLease {
	readonly heldMs: number;
}

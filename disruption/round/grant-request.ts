// Requests to a grant queue, its answers, and what it needs. Types only: grant-queue.ts has the code.
import type { BudgetName, RoundBudget } from "../budget/budget.ts";
import type { Failure } from "../budget/classify-failure.ts";
import type { Member, PlaceInLine } from "../budget/cluster.ts";
import type { BudgetState } from "../budget/allowance.ts";
import type { AgentUnavailableError } from "../errors.ts";
import type { Grant } from "./grant.ts";
import type { Place, Places } from "./places.ts";
import type { runRound } from "./round.ts";
import type { RoundRuntime } from "./round-runtime.ts";
import type { LeaseObserver } from "./told-lease.ts";
import type { Free, Refused, RoundCandidate } from "../budget/verdict.ts";
import type { Wait } from "./wait.ts";

export interface GrantRequest {
	readonly candidate: RoundCandidate;
	/** All budgets that cover the pod. */
	readonly budgets: readonly RoundBudget[];
	/** The API server that gets the eviction. It is the lane in Places. */
	readonly lane: string;
	/** Ends the wait. A grant that was already handed out is not taken back. */
	readonly signal: AbortSignal;
	/** Called when the reason for the wait changes. `nextMs`: milliseconds until the next look. */
	readonly onWait?: (wait: Wait, nextMs: number) => void;
}

export type GrantAnswer =
	/** The caller must end the grant or give it back. `last` is what the pod waited for. */
	| { readonly kind: "granted"; readonly grant: Grant; readonly last?: Wait }
	/** The pod needs no grant. The caller must end `place`. */
	| (Free & { readonly place: Place })
	/** `signal` aborted before there was an answer. */
	| { readonly kind: "over"; readonly last?: Wait }
	/** The caller has to find the pod's budgets or the fleet's members again. */
	| { readonly kind: "coverAgain"; readonly reason?: Refused["reason"]; readonly message?: string }
	| { readonly kind: "refused"; readonly reason: (Refused | Failure)["reason"]; readonly message: string };

/** Learns what happens in the rounds, for people. */
export interface GrantObserver extends LeaseObserver {
	/** Every member has answered. */
	answered(): void;
	/** Called once for each failed question, however many pods wait for its answer. */
	unreachable(error: AgentUnavailableError): void;
	counted(states: readonly BudgetState[]): void;
	/** A grant was handed out. Report the next counts even if they are unchanged, because the granted pod may be back up by then. */
	granted(): void;
	queued(place: PlaceInLine & { readonly cluster: string; readonly budget: BudgetName }): void;
}

export interface GrantPorts {
	/** The current members. They differ after the fleet has changed. */
	readonly members: () => readonly Member[];
	/** The holder that other runs see. */
	readonly holder: string;
	readonly runtime: RoundRuntime;
	/** Shared by all budgets. */
	readonly places: Places;
	/** After it aborts, no new round starts. */
	readonly stop: AbortSignal;
	/** Makes an observer for the rounds under the same budgets. */
	readonly observe: () => GrantObserver;
	/** Replaces runRound(), for example to watch the rounds. */
	readonly runRound?: typeof runRound;
}

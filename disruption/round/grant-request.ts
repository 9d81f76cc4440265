// What is asked of a grant queue, what it answers, and what it needs for that. Types only: grant-queue.ts answers.
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
	/** All that cover the pod. */
	readonly budgets: readonly RoundBudget[];
	/** The API server that its eviction goes to, as Places has it. */
	readonly lane: string;
	/** Ends the wait. A grant that was handed out is not taken back. */
	readonly signal: AbortSignal;
	/** Told when there is something new to say, and when that is looked at again. */
	readonly onWait?: (wait: Wait, nextMs: number) => void;
}

export type GrantAnswer =
	/** It must be ended or given back. `last`: what it waited for. */
	| { readonly kind: "granted"; readonly grant: Grant; readonly last?: Wait }
	/** It needs no grant. `place`: must be ended. */
	| (Free & { readonly place: Place })
	/** The signal came first. */
	| { readonly kind: "over"; readonly last?: Wait }
	/** What covers the pod, or who the members are, has to be asked anew. */
	| { readonly kind: "coverAgain"; readonly reason?: Refused["reason"]; readonly message?: string }
	| { readonly kind: "refused"; readonly reason: (Refused | Failure)["reason"]; readonly message: string };

/** Told of what becomes of the rounds, for people. */
export interface GrantObserver extends LeaseObserver {
	/** Every member has answered. */
	answered(): void;
	/** Once for each question that failed, however many wait for it. */
	unreachable(error: AgentUnavailableError): void;
	counted(states: readonly BudgetState[]): void;
	/** The next counts are news even where they are the same: what was taken is back by then. */
	granted(): void;
	queued(place: PlaceInLine & { readonly cluster: string; readonly budget: BudgetName }): void;
}

export interface GrantPorts {
	/** As they are now: others after the fleet has changed. */
	readonly members: () => readonly Member[];
	/** Who asks, for others. */
	readonly holder: string;
	readonly runtime: RoundRuntime;
	/** Shared by all budgets. */
	readonly places: Places;
	/** No new rounds. */
	readonly stop: AbortSignal;
	/** For the rounds under these budgets. */
	readonly observe: () => GrantObserver;
	/** The round itself; somebody may want to watch it. */
	readonly runRound?: typeof runRound;
}

// Requests to a grant queue, its answers, and what it needs. Types only: grant-queue.ts has the code.
import type { RoundBudget } from "../budget/budget.ts";
import type { Member } from "../budget/cluster.ts";
import type { AgentUnavailableError } from "../errors.ts";
import type { Grant } from "./grant.ts";
import type { Place, Places } from "./places.ts";
import type { runRound } from "./round.ts";
import type { RoundObserver, RoundRuntime } from "./round-runtime.ts";
import type { Free, RoundCandidate, Verdict } from "../budget/verdict.ts";
import type { Wait } from "./wait.ts";

export interface GrantRequest {
	readonly candidate: RoundCandidate;
	/** All budgets that cover the pod. */
	readonly budgets: readonly RoundBudget[];
	/** The API server that gets the eviction: the lane in Places. */
	readonly lane: string;
	/** Ends the wait. A grant that was already handed out is not taken back. */
	readonly signal: AbortSignal;
	/**
	 * Called with the reason for the wait: after each round that gives one, when a look finds another one, and after a failure that may pass.
	 * Not called if a member gives no answer. `nextMs` are the milliseconds until the next look or round.
	 */
	readonly onWait?: (wait: Wait, nextMs: number) => void;
	/** What the pod waits for, or waited for last. The queue sets it. */
	last?: Wait;
}

/**
 * The caller must end the grant or give it back, and end the `place` of a pod that needs no grant. The queue repeats requests whose verdict
 * may pass, with two exceptions. After CoverageChanged the caller has to find the pod's budgets again, and after FleetsDiffer the members
 * of the fleet.
 */
export type GrantAnswer = Verdict<
	{ readonly kind: "granted"; readonly grant: Grant },
	Free & { readonly place: Place }
>;

/** Learns what happens in the rounds, for people. */
export interface GrantObserver extends RoundObserver {
	/** A round or a look got its answers, or a round lost a Lease: the members can be reached. */
	answered(): void;
	/** A member gave no answer. Called once for each failed round or look, however many pods wait for it. */
	unreachable(error: AgentUnavailableError): void;
	/** A round granted a pod. Report the next counts even if they are unchanged, because the granted pod may be back up by then. */
	granted(): void;
}

export interface GrantPorts {
	/** Called for each round and look, because the fleet can change. */
	readonly members: () => readonly Member[];
	/** The holder that other runs see. */
	readonly holder: string;
	readonly runtime: RoundRuntime;
	/** Shared by all budgets. */
	readonly places: Places;
	/** Ends all rounds that have not begun to commit, and prevents new ones. */
	readonly stop: AbortSignal;
	/** Creates an observer for the rounds under the same budgets. */
	readonly observe: () => GrantObserver;
	/** Replaces runRound(), for example to watch the rounds. */
	readonly runRound?: typeof runRound;
}

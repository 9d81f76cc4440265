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
	/** The API server that gets the eviction. It is the lane in Places. */
	readonly lane: string;
	/** Ends the wait. A grant that was already handed out is not taken back. */
	readonly signal: AbortSignal;
	/** Called when the reason for the wait changes. `nextMs`: milliseconds until the next look. */
	readonly onWait?: (wait: Wait, nextMs: number) => void;
	/** What the pod waits for, or waited for last. The queue sets it. */
	last?: Wait;
}

/**
 * The caller must end the grant or give it back, and end the `place` of a pod that needs no grant. Only two verdicts of rounds are passed on
 * although they may pass: CoverageChanged and FleetsDiffer, for which the caller has to find the pod's budgets or the fleet's members again.
 */
export type GrantAnswer = Verdict<
	{ readonly kind: "granted"; readonly grant: Grant },
	Free & { readonly place: Place }
>;

/** Learns what happens in the rounds, for people. */
export interface GrantObserver extends RoundObserver {
	/** Every member has answered. */
	answered(): void;
	/** Called once for each failed question, however many pods wait for its answer. */
	unreachable(error: AgentUnavailableError): void;
	/** A grant was handed out. Report the next counts even if they are unchanged, because the granted pod may be back up by then. */
	granted(): void;
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

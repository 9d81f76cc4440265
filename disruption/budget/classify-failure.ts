// Classifies errors for a waiting pod: either the pod is tried again, or it fails because a person has to fix the cause. Any other error is
// a bug, which callers rethrow.
import {
	AgentUnavailableError,
	FleetsDifferError,
	GarbledLeaseError,
	InvalidBudgetError,
	isAgentRefusal,
	LeaseLostError,
} from "../errors.ts";
import type { FailureReason, RefusalReason } from "./verdict.ts";

export interface Failure {
	/** retry: ask again after `afterMs`. refuse: ask again only after a person has fixed the cause. */
	readonly kind: "retry" | "refuse";
	readonly reason: FailureReason | RefusalReason;
	readonly message: string;
	readonly afterMs: number;
}

/** An error from outside the domain that carries its own classification. */
export interface ClassifiedError extends Error {
	readonly failure: Failure;
}

/** The pause before the next try if an agent gave no answer, or if its answer may soon change. */
export const askAgainAfterMs = 1_000;
/**
 * The pause after a refusal that may pass, after no answer from an API server, and while a Lease cannot be read. kubectl pauses for the
 * same time after a refused eviction.
 */
export const retryAfterMs = 5_000;

/** Returns undefined for a bug. */
export function classifyFailure(error: unknown): Failure | undefined {
	if (!(error instanceof Error)) return undefined;
	const failed = (kind: Failure["kind"], reason: Failure["reason"], afterMs = 0): Failure => {
		return { kind, reason, message: error.message, afterMs };
	};
	if (error instanceof AgentUnavailableError) return failed("retry", "PeerUnreachable", askAgainAfterMs);
	// No pause: the caller asks for the fleet's members again, and that answer names the missing one.
	if (error instanceof FleetsDifferError) return failed("retry", "FleetsDiffer");
	if (error instanceof GarbledLeaseError) return failed("retry", "GarbledLease", retryAfterMs);
	if (error instanceof LeaseLostError) return failed("retry", "LeaseHeld");
	if (error instanceof InvalidBudgetError) return failed("refuse", "InvalidBudget");
	if (isAgentRefusal(error)) return failed("refuse", "AgentRefused");
	return isClassified(error) ? error.failure : undefined;
}

function isClassified(error: Error): error is ClassifiedError {
	return "failure" in error;
}

// What a failure means for a pod that waits: it passes, or asking again changes nothing. Everything else is a bug, and is thrown on.
import {
	AgentUnavailableError,
	FleetsDifferError,
	GarbledLeaseError,
	InvalidBudgetError,
	isAgentRefusal,
	LeaseLostError,
} from "../errors.ts";
import type { FailureReason, RefusalReason } from "./verdict.ts";

/** A question or a request that failed. */
export interface Failure {
	/** retry: ask again after `afterMs`. refuse: not before somebody has put something right. */
	readonly kind: "retry" | "refuse";
	readonly reason: FailureReason | RefusalReason;
	readonly message: string;
	readonly afterMs: number;
}

/** An error from outside the domain, which says itself what it means. */
export interface ClassifiedError extends Error {
	readonly failure: Failure;
}

/** After an agent without an answer, and while members disagree. */
export const askAgainAfterMs = 1_000;
/** After what somebody has to put right, which may happen at any time; kubectl's own pause after a refusal. */
export const retryAfterMs = 5_000;

/** Undefined for a bug. */
export function classifyFailure(error: unknown): Failure | undefined {
	if (!(error instanceof Error)) return undefined;
	const failed = (kind: Failure["kind"], reason: Failure["reason"], afterMs = 0): Failure => {
		return { kind, reason, message: error.message, afterMs };
	};
	if (error instanceof AgentUnavailableError) return failed("retry", "PeerUnreachable", askAgainAfterMs);
	// The fleet is asked who it is, and names who is missing.
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

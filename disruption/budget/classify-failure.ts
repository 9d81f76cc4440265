// Classifies failures for a waiting pod. A failure is temporary, or the same request would fail again until a person has fixed the cause.
// Any other error is a bug, which callers rethrow.
import {
	AgentUnavailableError,
	FleetsDifferError,
	GarbledLeaseError,
	InvalidBudgetError,
	isAgentRefusal,
	LeaseLostError,
} from "../errors.ts";
import type { FailureReason, RefusalReason } from "./verdict.ts";

/** The classification of a request that failed. */
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

/** The pause if an agent gave no answer, or if the answer may soon be another one, for example while members disagree. */
export const askAgainAfterMs = 1_000;
/**
 * The pause after a refusal that may pass, or if a person has to fix the cause, which may happen at any time. kubectl pauses for the same
 * time after a refusal.
 */
export const retryAfterMs = 5_000;

/** Classifies an error. Returns undefined for a bug. */
export function classifyFailure(error: unknown): Failure | undefined {
	if (!(error instanceof Error)) return undefined;
	const failed = (kind: Failure["kind"], reason: Failure["reason"], afterMs = 0): Failure => {
		return { kind, reason, message: error.message, afterMs };
	};
	if (error instanceof AgentUnavailableError) return failed("retry", "PeerUnreachable", askAgainAfterMs);
	// The next question to the fleet names the missing member.
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

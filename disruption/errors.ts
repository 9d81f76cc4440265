// The errors of the domain. Expected answers are values, not errors. `reason` is stable, the text is not.
import { BoundedError } from "./bounded-error.ts";

/** A budget that cannot be enforced as written. `field` is the path of the wrong field. */
export class InvalidBudgetError extends BoundedError {
	override readonly name = "InvalidBudgetError";
	readonly reason = "InvalidBudget";
	readonly field: string;
	constructor(message: string, field: string) {
		super(message);
		this.field = field;
	}
}

/** The acquisition no longer stands. The round ends, and its caller starts a new one. */
export class LeaseLostError extends BoundedError {
	override readonly name = "LeaseLostError";
	readonly reason = "LeaseLost";
}

/**
 * A Lease that cannot be read. Nothing that depends on it is granted until a person has fixed or deleted it. Agents also use this error to
 * report reservations that may never end.
 */
export class GarbledLeaseError extends BoundedError {
	override readonly name = "GarbledLeaseError";
	readonly reason = "GarbledLease";
}

/**
 * A cluster knows a member that its declared fleet neither lists nor forgets, or a member of its fleet does not list it. A person has to
 * change the lists.
 */
export class FleetsDifferError extends BoundedError {
	override readonly name = "FleetsDifferError";
	readonly reason = "FleetsDiffer";
}

/** The component that gave no answer, as far as known. */
export type Silent = "agent" | "apiServer" | "network" | "unknown";

/** A cluster's agent or its API server gave no answer, or the agent refuses for now. A retry may help. */
export class AgentUnavailableError extends BoundedError {
	override readonly name = "AgentUnavailableError";
	readonly reason = "AgentUnavailable";
	readonly cluster: string;
	/** Undefined if no component is known to be silent, for example if the agent refused for now. */
	readonly silent: Silent | undefined;
	/** Whether an agent reported the failure, and so was not silent itself. */
	readonly told: boolean;
	constructor(
		message: string,
		cluster: string,
		options: ErrorOptions & { readonly silent?: Silent | undefined; readonly told?: boolean } = {},
	) {
		super(message, options);
		this.cluster = cluster;
		this.silent = options.silent;
		this.told = options.told ?? false;
	}
}

/** One side cannot use the other's message, usually because their versions differ. */
export class AgentProtocolError extends BoundedError {
	override readonly name = "AgentProtocolError";
	readonly reason = "AgentProtocol";
}

/** The agent refuses the caller, because the caller lacks the right or its identity is unproven. */
export class AgentForbiddenError extends BoundedError {
	override readonly name = "AgentForbiddenError";
	readonly reason = "AgentForbidden";
}

/** The errors that agents return intentionally, by their reason. Any other error is a bug. */
export const domainErrors = {
	InvalidBudget: InvalidBudgetError,
	LeaseLost: LeaseLostError,
	GarbledLease: GarbledLeaseError,
	FleetsDiffer: FleetsDifferError,
	AgentUnavailable: AgentUnavailableError,
	AgentProtocol: AgentProtocolError,
	AgentForbidden: AgentForbiddenError,
} as const;

export type DomainReason = keyof typeof domainErrors;
type DomainError = InstanceType<(typeof domainErrors)[DomainReason]>;

export function isDomainError(error: unknown): error is DomainError {
	return Object.values(domainErrors).some((kind) => error instanceof kind);
}

/** Whether repeating the same request is useless: the agent refused it, or one side cannot use the other's message. */
export function isAgentRefusal(error: unknown): error is AgentForbiddenError | AgentProtocolError {
	return error instanceof AgentForbiddenError || error instanceof AgentProtocolError;
}

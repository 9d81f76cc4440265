// The failures of the domain: expected answers are values, these are not expected. `reason` is stable, the text is not.
import { BoundedError } from "./bounded-error.ts";

/** A budget that cannot be enforced as it is written; `field` is the path in the object that is wrong. */
export class InvalidBudgetError extends BoundedError {
	override readonly name = "InvalidBudgetError";
	readonly reason = "InvalidBudget";
	readonly field: string;
	constructor(message: string, field: string) {
		super(message);
		this.field = field;
	}
}

/** The acquisition does not stand any more: the round stops and starts over. */
export class LeaseLostError extends BoundedError {
	override readonly name = "LeaseLostError";
	readonly reason = "LeaseLost";
}

/** A Lease whose holder, versions or reservations cannot be read: nothing is granted until a person has looked at it. */
export class GarbledLeaseError extends BoundedError {
	override readonly name = "GarbledLeaseError";
	readonly reason = "GarbledLease";
}

/** A cluster knows of a member that its declared fleet neither lists nor forgets: somebody has to do one of both. */
export class FleetsDifferError extends BoundedError {
	override readonly name = "FleetsDifferError";
	readonly reason = "FleetsDiffer";
}

/** Who it was that gave no answer, as far as anybody knows. */
export type Silent = "agent" | "apiServer" | "network" | "unknown";

/** No answer from a cluster's agent, or from the API server behind it; trying again may help. */
export class AgentUnavailableError extends BoundedError {
	override readonly name = "AgentUnavailableError";
	readonly reason = "AgentUnavailable";
	readonly cluster: string;
	/** Undefined where the agent did answer, and says why it does not do what it was asked for. */
	readonly silent: Silent | undefined;
	/** Whether an agent told it, which was thus not silent itself. */
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

/** The agent does not understand us or we do not understand it: versions differ. */
export class AgentProtocolError extends BoundedError {
	override readonly name = "AgentProtocolError";
	readonly reason = "AgentProtocol";
}

/** The agent knows the caller and does not let it. */
export class AgentForbiddenError extends BoundedError {
	override readonly name = "AgentForbiddenError";
	readonly reason = "AgentForbidden";
}

/** What agents answer with instead of an answer, and mean, by its reason: an error that is none of these is a bug somewhere. */
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

/** The agent understood, and says no: asking it again changes nothing. */
export function isAgentRefusal(error: unknown): error is AgentForbiddenError | AgentProtocolError {
	return error instanceof AgentForbiddenError || error instanceof AgentProtocolError;
}

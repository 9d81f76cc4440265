// Converts domain errors to gRPC statuses and back. The trailers carry the reason, so the caller gets the same domain error. A status from
// another source (grpc-js, a proxy, another version) is judged by its code. Nothing here turns an error into an answer.
import { Metadata, type ServiceError, type StatusObject, status } from "@grpc/grpc-js";
import {
	AgentForbiddenError,
	AgentProtocolError,
	AgentUnavailableError,
	type DomainReason,
	FleetsDifferError,
	GarbledLeaseError,
	InvalidBudgetError,
	isDomainError,
	LeaseLostError,
	type Silent,
} from "../disruption/errors.ts";
import { oneLine } from "../disruption/printable.ts";
import { findSilence } from "./silence.ts";
import { withoutNodeAdvice } from "./verified-tls.ts";

interface ErrorDetails {
	readonly message: string;
	/** InvalidBudget: the path in the object. */
	readonly field: string;
	/** AgentUnavailable: the cluster whose answer is missing. It is not always the called one, because calls are forwarded. */
	readonly cluster: string;
	readonly silent?: Silent | undefined;
	readonly told?: boolean;
	readonly cause?: unknown;
}

interface ErrorKind {
	readonly code: status;
	/** Statuses that mean this error if they carry no reason of a domain error. */
	readonly foreignCodes: readonly status[];
	readonly make: (details: ErrorDetails) => Error;
}

const kinds: Readonly<Record<DomainReason, ErrorKind>> = {
	InvalidBudget: {
		code: status.FAILED_PRECONDITION,
		foreignCodes: [],
		make: ({ message, field }) => new InvalidBudgetError(message, field),
	},
	LeaseLost: {
		code: status.ABORTED,
		foreignCodes: [status.ABORTED],
		make: ({ message }) => new LeaseLostError(message),
	},
	GarbledLease: {
		code: status.DATA_LOSS,
		foreignCodes: [status.DATA_LOSS],
		make: ({ message }) => new GarbledLeaseError(message),
	},
	FleetsDiffer: {
		// A caller that does not know the reason reads it as AgentProtocol, and evicts nothing either.
		code: status.FAILED_PRECONDITION,
		foreignCodes: [],
		make: ({ message }) => new FleetsDifferError(message),
	},
	AgentUnavailable: {
		code: status.UNAVAILABLE,
		// INTERNAL and UNKNOWN mean a bug in the agent, whose log has the details. For the caller they mean no answer.
		foreignCodes: [
			status.UNAVAILABLE,
			status.DEADLINE_EXCEEDED,
			status.CANCELLED,
			status.RESOURCE_EXHAUSTED,
			status.INTERNAL,
			status.UNKNOWN,
		],
		make: ({ message, cluster, ...options }) => new AgentUnavailableError(message, cluster, options),
	},
	AgentProtocol: {
		code: status.INVALID_ARGUMENT,
		foreignCodes: [
			status.INVALID_ARGUMENT,
			status.UNIMPLEMENTED,
			status.OUT_OF_RANGE,
			status.FAILED_PRECONDITION,
			status.NOT_FOUND,
			status.ALREADY_EXISTS,
		],
		make: ({ message, cause }) => new AgentProtocolError(message, { cause }),
	},
	AgentForbidden: {
		code: status.PERMISSION_DENIED,
		foreignCodes: [status.PERMISSION_DENIED, status.UNAUTHENTICATED],
		make: ({ message, cause }) => new AgentForbiddenError(message, { cause }),
	},
};

/** The text that grpc-js appends to the last error of a connection. It does not help people. */
const lastErrorNote = /(?:\s*\(\d{4}-\d{2}-\d{2}T[^)]*\))?\.\s*Resolution note:/;

const reasonKey = "xpdb-reason";
const fieldKey = "xpdb-field";
const clusterKey = "xpdb-cluster";
const silentKey = "xpdb-silent";
const toldSilences: readonly Silent[] = ["agent", "apiServer", "network", "unknown"];

/** Trailers are headers: a longer message could make the whole answer unreadable. */
const maxDetailsLength = 4_000;
const maxTrailerLength = 500;

/** An error outside the domain is a bug, and becomes INTERNAL without details. */
export function statusOfError(error: unknown): Partial<StatusObject> {
	const metadata = new Metadata();
	if (!isDomainError(error)) return { code: status.INTERNAL, details: "Internal error, see the agent's log", metadata };
	metadata.set(reasonKey, error.reason);
	if (error instanceof InvalidBudgetError) metadata.set(fieldKey, trailer(error.field));
	if (error instanceof AgentUnavailableError) {
		metadata.set(clusterKey, trailer(error.cluster));
		if (error.silent) metadata.set(silentKey, error.silent);
	}
	return { code: kinds[error.reason].code, details: detailsOf(error), metadata };
}

function trailer(value: string): string {
	return encodeURIComponent(value.slice(0, maxTrailerLength).toWellFormed());
}

/** grpc-js encodes details with encodeURI, which throws on half a surrogate pair, and the cut may leave such a half. */
function detailsOf(error: Error): string {
	return error.message.slice(0, maxDetailsLength).toWellFormed();
}

/** The status for a caller whose identity is unproven. The caller receives it as AgentForbiddenError. */
export function unauthenticatedStatus(message: string): Partial<StatusObject> {
	return { ...statusOfError(new AgentForbiddenError(message)), code: status.UNAUTHENTICATED };
}

export interface FailedCall {
	/** The cluster that was asked. */
	readonly cluster: string;
	readonly call: string;
	/** The cluster whose agent made the call, or undefined for the plugin. */
	readonly askedBy?: string | undefined;
}

export function errorOfStatus(error: ServiceError, { cluster, call, askedBy }: FailedCall): Error {
	const reason = text(error.metadata, reasonKey);
	if (isReason(reason)) {
		return kinds[reason].make({
			message:
				error.details.trim().slice(0, maxDetailsLength) || `cannot do ${call} in cluster "${cluster}": ${reason}`,
			field: text(error.metadata, fieldKey),
			cluster: text(error.metadata, clusterKey) || cluster,
			told: true,
			silent: toldSilences.find((silent) => silent === text(error.metadata, silentKey)),
			cause: error,
		});
	}
	// grpc-js uses these details if an answer came and could not be decoded.
	const unreadable = error.code === status.INTERNAL && error.details.startsWith("Response message parsing error");
	const kind = unreadable
		? kinds.AgentProtocol
		: (Object.values(kinds).find(({ foreignCodes }) => foreignCodes.includes(error.code)) ?? kinds.AgentProtocol);
	const code = status[error.code] ?? String(error.code);
	const details =
		withoutNodeAdvice(error.details)
			.replace(lastErrorNote, "")
			.replaceAll(/\s+/g, " ")
			.trim()
			.slice(0, maxDetailsLength / 2) || "no reason was given";
	const { why, silent } = findSilence({ code: error.code, details }, askedBy) ?? {
		why: `${code}: ${details}`,
		silent: "unknown",
	};
	const message = `cannot get an answer to ${call} from the agent of cluster "${cluster}": ${why}`;
	return kind.make({ message, field: "", cluster, cause: error, silent });
}

/** Whether the agent does not support the call, because its version is too old. */
export function isUnimplemented(error: unknown): boolean {
	if (!(error instanceof AgentProtocolError)) return false;
	const { cause } = error;
	return cause instanceof Error && "code" in cause && cause.code === status.UNIMPLEMENTED;
}

function isReason(name: string): name is DomainReason {
	return Object.hasOwn(kinds, name);
}

/** Returns "" if the trailer is missing or cannot be decoded. */
function text(metadata: Metadata | undefined, key: string): string {
	const value = metadata?.get(key)[0];
	if (typeof value !== "string") return "";
	try {
		return oneLine(decodeURIComponent(value));
	} catch (error) {
		if (error instanceof URIError) return "";
		throw error;
	}
}

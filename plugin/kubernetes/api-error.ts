// Defines the errors of requests to an API server, and words them as kubectl does.
import { BoundedError, longestMessage } from "../../disruption/bounded-error.ts";
import { type ClassifiedError, type Failure, retryAfterMs } from "../../disruption/budget/classify-failure.ts";
import { indentMore, oneLine } from "../../disruption/printable.ts";
import { quote, shorten, shortenTo } from "../../disruption/quote.ts";
import { isRecord } from "../../disruption/record.ts";
import type { FailureReason } from "../../disruption/budget/verdict.ts";
import { withoutNodeAdvice } from "../../proto/verified-tls.ts";

export interface StatusCause {
	readonly reason: string;
	readonly message: string;
	readonly field: string;
}

const maxCauses = 100;

/** An answer of the API server other than 2xx, or a failure that the plugin words like one. */
export class ApiError extends BoundedError implements ClassifiedError {
	override readonly name = "ApiError";
	readonly code: number;
	/** Status.reason, for example NotFound. Derived from the code if the answer is not a Status. May be "". */
	readonly reason: string;
	readonly causes: readonly StatusCause[];
	/** From the Retry-After header, but at most 60. */
	readonly retryAfterSeconds: number | undefined;
	constructor(
		message: string,
		status: {
			readonly code: number;
			readonly reason?: string;
			readonly causes?: readonly StatusCause[];
			readonly retryAfterSeconds?: number | undefined;
		},
	) {
		super(message);
		this.code = status.code;
		this.reason = shorten(oneLine(status.reason ?? ""));
		this.causes = (status.causes ?? []).slice(0, maxCauses).map(({ reason, message: why, field }) => ({
			reason: shorten(reason),
			message: shortenTo(indentMore(why), longestMessage),
			field: shorten(oneLine(field)),
		}));
		this.retryAfterSeconds = status.retryAfterSeconds;
	}

	get failure(): Failure {
		const { message } = this;
		return isPassing(this)
			? { kind: "retry", reason: "ServerUnreachable", message, afterMs: retryAfterMs }
			: { kind: "refuse", reason: refusalReason(this), message, afterMs: 0 };
	}
}

export function refusalReason({ code, message, causes }: ApiError): FailureReason {
	if (causes.some(({ reason }) => reason === "NamespaceTerminating")) return "NamespaceTerminating";
	if (causes.some(({ reason }) => reason === "DisruptionBudget")) return "DisruptionBudget";
	if (/^admission webhook .* denied the request/.test(message)) return "WebhookDenied";
	if (message.includes("more than one PodDisruptionBudget")) return "MultipleBudgets";
	if (code === 401 || code === 403) return "Forbidden";
	if (code === 429 || code >= 500) return "ServerBusy";
	return "Refused";
}

/** The request's guard refused it right before it was written, so nothing was sent. */
export class NotSentError extends BoundedError {
	override readonly name = "NotSentError";
	readonly hadToConnect: boolean;
	constructor(hadToConnect = false) {
		super("the request was not sent: it waited too long");
		this.hadToConnect = hadToConnect;
	}
}

/** The cause of a ConnectionError if the API server did not answer in time. */
export class SilentServerError extends BoundedError {
	override readonly name = "SilentServerError";
}

/** There was no usable answer: for example, the connection failed, a certificate is not trusted, or the answer is not an API object. */
export class ConnectionError extends BoundedError implements ClassifiedError {
	override readonly name = "ConnectionError";
	readonly server: string;
	/** The error code of Node or the system, for example ECONNREFUSED. "" if there is none. */
	readonly code: string;
	readonly context: string | undefined;
	constructor(server: string, cause: unknown, context?: string) {
		const code = systemCode(cause);
		const message = withoutNodeAdvice(
			cause instanceof Error ? cause.message : String(cause),
			"set certificate-authority in the kubeconfig to the CA of this server",
		);
		// If all addresses of a host fail, Node throws one AggregateError with an empty message.
		super(message || code || "the connection failed", { cause });
		this.server = server;
		this.code = code;
		this.context = context;
	}

	get failure(): Failure {
		return { kind: "retry", reason: "ServerUnreachable", message: this.message, afterMs: retryAfterMs };
	}

	get isSilent(): boolean {
		return this.cause instanceof SilentServerError;
	}

	inContext(name: string): ConnectionError {
		return new ConnectionError(this.server, this.cause, name);
	}
}

export function isForbidden(error: unknown): error is ApiError {
	return error instanceof ApiError && error.code === 403;
}

export function isNotFound(error: unknown): boolean {
	return error instanceof ApiError && error.code === 404;
}

/** Whether a retry may succeed: there was no answer, there were too many requests, or the server failed. */
export function isPassing(error: unknown): boolean {
	return error instanceof ConnectionError || (error instanceof ApiError && (error.code === 429 || error.code >= 500));
}

/** A larger Retry-After may be a mistake of the server. */
const longestRetrySeconds = 60;

export function readApiError(code: number, body: string, retryAfter: string | undefined): ApiError {
	const seconds =
		retryAfter === undefined || !/^\d+$/.test(retryAfter)
			? undefined
			: Math.min(Number(retryAfter), longestRetrySeconds);
	const status = parseStatus(body);
	if (!status) {
		const text = body.trim();
		const message = text === "" ? `the server answered ${code}` : text.slice(0, 2_000);
		return new ApiError(message, { code, reason: reasonOfCode(code), retryAfterSeconds: seconds });
	}
	return new ApiError(status.message, {
		code,
		reason: status.reason,
		causes: status.causes,
		retryAfterSeconds: seconds,
	});
}

/** Returns the line that kubectl prints for an error that ends a command (cmd/util/helpers.go, StandardErrorMessage). */
export function kubectlErrorLine(error: unknown): string {
	if (error instanceof ApiError) {
		if (error.reason === "Unauthorized") return `error: You must be logged in to the server (${error.message})`;
		return error.reason === ""
			? `Error from server: ${error.message}`
			: `Error from server (${error.reason}): ${error.message}`;
	}
	if (error instanceof ConnectionError) {
		const where = error.context === undefined ? "" : ` of context ${quote(error.context)}`;
		return error.code === "ECONNREFUSED"
			? `The connection to the server ${hostOf(error.server)}${where} was refused - did you specify the right host or port?`
			: `Unable to connect to the server${where}: ${error.message}`;
	}
	return `error: ${error instanceof Error ? error.message : String(error)}`;
}

/**
 * Adds what was requested to the error of a list that was answered with 400 or 404, as kubectl does (cli-runtime, EnhanceListError).
 * Returns any other error unchanged.
 */
export function listError(
	error: unknown,
	path: string,
	query: { readonly labelSelector: string; readonly fieldSelector: string },
): unknown {
	if (!(error instanceof ApiError) || (error.code !== 400 && error.code !== 404)) return error;
	const [, group = "", version = "v1"] = /^\/apis\/([^/]+)\/([^/]+)/.exec(path) ?? [];
	const resource = `"${group}/${version}, Resource=${path.split("/").at(-1)}"`;
	const { labelSelector, fieldSelector } = query;
	const what =
		labelSelector === "" && fieldSelector === ""
			? `list ${resource}`
			: `find ${resource} that match label selector "${labelSelector}", field selector "${fieldSelector}"`;
	const { code, reason, causes, retryAfterSeconds } = error;
	return new ApiError(`Unable to ${what}: ${error.message}`, { code, reason, causes, retryAfterSeconds });
}

/** Returns the message without kubectl's prefix, such as "Error from server", to append it to another message. */
export function errorText(error: unknown): string {
	return error instanceof Error ? error.message : String(error);
}

function parseStatus(
	body: string,
): { readonly message: string; readonly reason: string; readonly causes: readonly StatusCause[] } | undefined {
	let value: unknown;
	try {
		value = JSON.parse(body);
	} catch (error) {
		if (error instanceof SyntaxError) return undefined;
		throw error;
	}
	if (!isRecord(value) || value["kind"] !== "Status") return undefined;
	const details = isRecord(value["details"]) ? value["details"] : {};
	const causes: readonly unknown[] = Array.isArray(details["causes"]) ? details["causes"] : [];
	return {
		message: text(value["message"]).trim() || "unknown",
		reason: text(value["reason"]),
		causes: causes.filter(isRecord).map((cause) => ({
			reason: text(cause["reason"]),
			message: text(cause["message"]),
			field: text(cause["field"]),
		})),
	};
}

function reasonOfCode(code: number): string {
	const reasons: Readonly<Record<number, string>> = {
		401: "Unauthorized",
		403: "Forbidden",
		404: "NotFound",
		409: "Conflict",
		429: "TooManyRequests",
		500: "InternalError",
		503: "ServiceUnavailable",
		504: "Timeout",
	};
	return reasons[code] ?? "";
}

function systemCode(error: unknown): string {
	if (error instanceof AggregateError) return systemCode(error.errors[0]);
	return error instanceof Error && "code" in error ? text(error.code) : "";
}

function hostOf(server: string): string {
	return URL.canParse(server) ? new URL(server).host : server;
}

function text(value: unknown): string {
	return typeof value === "string" ? value : "";
}

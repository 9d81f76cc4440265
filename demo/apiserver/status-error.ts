// The API server's refusals: metav1.Status bodies with the words of apimachinery's errors.go.
import type { ResourceType } from "./resource-types.ts";

export interface StatusCause {
	readonly reason?: string;
	readonly message?: string;
	readonly field?: string;
}

export interface Status {
	readonly kind: "Status";
	readonly apiVersion: "v1";
	readonly metadata: object;
	readonly status: "Failure";
	readonly message: string;
	readonly reason?: string;
	readonly details?: {
		readonly name?: string;
		readonly group?: string;
		readonly kind?: string;
		readonly uid?: string;
		readonly causes?: readonly StatusCause[];
		readonly retryAfterSeconds?: number;
	};
	readonly code: number;
}

type Named = Pick<ResourceType, "group" | "plural">;

export class StatusError extends Error {
	override readonly name = "StatusError";
	readonly status: Status;

	constructor(status: Pick<Status, "code" | "message" | "reason" | "details">) {
		super(status.message);
		this.status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", ...status };
	}
}

export function qualified({ group, plural }: Named): string {
	return group === "" ? plural : `${plural}.${group}`;
}

function details({ group, plural }: Named, name: string) {
	return { ...(name !== "" && { name }), ...(group !== "" && { group }), kind: plural };
}

export function notFound(type: Named, name: string): StatusError {
	const message = `${qualified(type)} ${JSON.stringify(name)} not found`;
	return new StatusError({ code: 404, reason: "NotFound", message, details: details(type, name) });
}

export function noSuchPath(): StatusError {
	return new StatusError({
		code: 404,
		reason: "NotFound",
		message: "the server could not find the requested resource",
		details: {},
	});
}

export function alreadyExists(type: Named, name: string): StatusError {
	const message = `${qualified(type)} ${JSON.stringify(name)} already exists`;
	return new StatusError({ code: 409, reason: "AlreadyExists", message, details: details(type, name) });
}

export function conflict(type: Named, name: string, why: string): StatusError {
	const message = `Operation cannot be fulfilled on ${qualified(type)} ${JSON.stringify(name)}: ${why}`;
	return new StatusError({ code: 409, reason: "Conflict", message, details: details(type, name) });
}

export const objectModified =
	"the object has been modified; please apply your changes to the latest version and try again";

export function forbidden(type: Named, name: string, why: string, causes?: readonly StatusCause[]): StatusError {
	const subject = name === "" ? qualified(type) : `${qualified(type)} ${JSON.stringify(name)}`;
	return new StatusError({
		code: 403,
		reason: "Forbidden",
		message: `${subject} is forbidden: ${why}`,
		details: { ...details(type, name), ...(causes && { causes }) },
	});
}

export function badRequest(message: string): StatusError {
	return new StatusError({ code: 400, reason: "BadRequest", message });
}

export function unauthorized(): StatusError {
	return new StatusError({ code: 401, reason: "Unauthorized", message: "Unauthorized" });
}

export function unsupportedMediaType(accepted: readonly string[]): StatusError {
	return new StatusError({
		code: 415,
		reason: "UnsupportedMediaType",
		message: `the body of the request was in an unknown format - accepted media types include: ${accepted.join(", ")}`,
	});
}

export function methodNotAllowed(): StatusError {
	return new StatusError({
		code: 405,
		reason: "MethodNotAllowed",
		message: "the server does not allow this method on the requested resource",
		details: {},
	});
}

/** `cause.reason` is as in field.Error, for example "FieldValueInvalid". */
export function invalid(
	type: Pick<ResourceType, "group" | "kind">,
	name: string,
	cause: { readonly field: string; readonly reason: string; readonly message: string },
): StatusError {
	const kind = type.group === "" ? type.kind : `${type.kind}.${type.group}`;
	return new StatusError({
		code: 422,
		reason: "Invalid",
		message: `${kind} ${JSON.stringify(name)} is invalid: ${cause.field}: ${cause.message}`,
		details: {
			...(name !== "" && { name }),
			...(type.group !== "" && { group: type.group }),
			kind: type.kind,
			causes: [cause],
		},
	});
}

export function expired(message: string): StatusError {
	return new StatusError({ code: 410, reason: "Expired", message });
}

export function tooManyRequests(message: string, retryAfterSeconds: number, causes: readonly StatusCause[]) {
	const retry = retryAfterSeconds > 0 ? { retryAfterSeconds } : {};
	return new StatusError({ code: 429, reason: "TooManyRequests", message, details: { causes, ...retry } });
}

// Checks how long a token lives, by its claims, which are trusted because the API server has accepted the token. A token found in a log or
// a backup works until it expires, so the agents accept none that lives longer than an hour.
import { isRecord } from "../../disruption/record.ts";

/** The default of TokenRequest; kubectl xpdb requests ten minutes. */
const longestSeconds = 3_600;

/** Returns why the token lives too long; undefined if it does not. An unknown lifetime is too long. */
export function lifetimeProblem(token: string): string | undefined {
	const claims = readClaims(token);
	if (!claims) return "it is not a JSON Web Token, so its lifetime is unknown";
	const { exp, iat } = claims;
	// Such as a token from a Secret of type kubernetes.io/service-account-token.
	if (exp === undefined) return "it never ends";
	if (!isTime(exp) || !isTime(iat)) return "its lifetime is unknown";
	const seconds = exp - iat;
	if (seconds <= longestSeconds) return undefined;
	return `it lives for ${Math.ceil(seconds / 60)} minutes, more than ${longestSeconds / 60}`;
}

function isTime(value: unknown): value is number {
	return typeof value === "number" && Number.isFinite(value);
}

function readClaims(token: string): Readonly<Record<string, unknown>> | undefined {
	const [, payload, , ...more] = token.split(".");
	if (payload === undefined || more.length > 0) return undefined;
	try {
		const claims: unknown = JSON.parse(Buffer.from(payload, "base64url").toString("utf8"));
		return isRecord(claims) ? claims : undefined;
	} catch {
		// Not JSON, so it has no claims.
		return undefined;
	}
}

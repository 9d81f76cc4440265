// How long a token lives, by what is written in it. Whoever finds a token in a log or a backup may use it until it ends, so the
// agents take none that lives longer than an hour. It is read only after the API server said that the token is one of its own.
import { isRecord } from "../../disruption/record.ts";

/** What TokenRequest gives where nobody asks for less; kubectl xpdb asks for ten minutes. */
const longestSeconds = 3_600;

/** Why the token lives too long; undefined where it does not. What cannot be read lives too long. */
export function lifetimeProblem(token: string): string | undefined {
	const claims = readClaims(token);
	if (!claims) return "it is no JSON Web Token, and nobody can say when it ends";
	const { exp, iat } = claims;
	// A token of a Secret of type kubernetes.io/service-account-token.
	if (exp === undefined) return "it never ends";
	if (!isTime(exp) || !isTime(iat)) return "nobody can say for how long it is good";
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
		// Not JSON: it says nothing.
		return undefined;
	}
}

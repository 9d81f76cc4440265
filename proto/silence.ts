// Turns grpc-js's error for an unanswered call into words for people, and says which component was silent, as far as the caller can tell.
import { status } from "@grpc/grpc-js";
import type { Silent } from "../disruption/errors.ts";

export interface Silence {
	readonly why: string;
	readonly silent: Silent;
}

/** The system's errors that mean a broken route to the host, unlike a refused connection. */
const noWay =
	/\b(ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENETDOWN|ENOTFOUND|EAI_AGAIN|ECONNRESET|EPIPE)\b|socket disconnected before secure TLS|Name resolution failed/;

/**
 * Returns undefined if the error is not known to mean silence. `askedBy` is the cluster whose agent made the call, or undefined for the
 * plugin.
 */
export function findSilence(
	{ code, details }: { readonly code: status; readonly details: string },
	askedBy: string | undefined,
): Silence | undefined {
	const from = askedBy === undefined ? "" : ` from cluster "${askedBy}"`;
	if (code === status.DEADLINE_EXCEEDED && details.startsWith("Deadline exceeded")) {
		const [, seconds] = /^Deadline exceeded after (\d+(?:\.\d+)?)s/.exec(details) ?? [];
		const within = seconds === undefined ? "in time" : `within ${Math.round(Number(seconds) * 10) / 10} s`;
		// The caller cannot tell whether the agent hangs or the network does.
		return details.includes("Waiting for LB pick")
			? { why: `no connection${from} ${within}`, silent: "unknown" }
			: { why: `none came${from && ` over the connection${from}`} ${within}`, silent: "unknown" };
	}
	if (code === status.UNAVAILABLE && details === "Connection dropped") {
		return { why: `the connection${from} was dropped before one came`, silent: "unknown" };
	}
	// The connection is open, but no call is sent over it any more (credentials.ts). A new connection would give the same error.
	const [, expired] =
		/^Getting metadata from plugin failed with error: (certificate has expired.*)$/.exec(details) ?? [];
	if (code === status.UNAVAILABLE && expired !== undefined)
		return { why: `no connection${from}: ${expired}`, silent: "unknown" };
	if (code === status.UNAVAILABLE && details.startsWith("No connection established.")) {
		const why = /Last error: (?:Error: )?(.+)$/.exec(details)?.[1] ?? "it was not said why";
		return { why: `no connection${from}: ${why}`, silent: noWay.test(why) ? "network" : "unknown" };
	}
	return undefined;
}

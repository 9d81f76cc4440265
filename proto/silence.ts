// What grpc-js says of a call that nobody answered, in words for people: who was silent, as far as the caller can tell.
import { status } from "@grpc/grpc-js";
import type { Silent } from "../disruption/errors.ts";

export interface Silence {
	readonly why: string;
	readonly silent: Silent;
}

/** What the system says where the way to a host is broken, rather than that nobody listens there. */
const noWay =
	/\b(ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENETDOWN|ENOTFOUND|EAI_AGAIN|ECONNRESET|EPIPE)\b|socket disconnected before secure TLS|Name resolution failed/;

/** Undefined where somebody answered. `askedBy`: the cluster whose agent asked; a person's own program if left out. */
export function findSilence(
	{ code, details }: { readonly code: status; readonly details: string },
	askedBy: string | undefined,
): Silence | undefined {
	const from = askedBy === undefined ? "" : ` from cluster "${askedBy}"`;
	if (code === status.DEADLINE_EXCEEDED && details.startsWith("Deadline exceeded")) {
		const [, seconds] = /^Deadline exceeded after (\d+(?:\.\d+)?)s/.exec(details) ?? [];
		const within = seconds === undefined ? "in time" : `within ${Math.round(Number(seconds) * 10) / 10} s`;
		// Whether it hangs or the network does cannot be seen from here.
		return details.includes("Waiting for LB pick")
			? { why: `no connection${from} ${within}`, silent: "unknown" }
			: { why: `none came${from && ` over the connection${from}`} ${within}`, silent: "unknown" };
	}
	if (code === status.UNAVAILABLE && details === "Connection dropped") {
		return { why: `the connection${from} was dropped before one came`, silent: "unknown" };
	}
	// Of a connection that stands, but over which nothing more is sent; a new one says the same.
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

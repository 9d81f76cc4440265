// Describes the verified caller of a call. What a caller claims about itself (a holder, a person's name) is never in here.
import type { StatusObject } from "@grpc/grpc-js";
import { shortenTo } from "../../disruption/quote.ts";
import type { PassedOnCaller } from "../../proto/passed-on.ts";

/** The user as a TokenReview reports it. */
export interface ReviewedUser {
	readonly username: string;
	readonly uid: string;
	readonly groups: readonly string[];
	readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** A caller with a token that this cluster's API server knows. */
export interface TokenCaller {
	readonly kind: "token";
	readonly user: ReviewedUser;
	/** The id with which the API server's audit log records that the token was issued; "" if the server reports none. */
	readonly tokenId: string;
	/** Identifies the token where answers are cached: its hash, never the token itself. */
	readonly tokenHash: string;
}

/** Another agent, by its certificate. Its cluster is a member of the fleet, unless the call is a greeting. */
interface PeerCaller {
	readonly kind: "peer";
	/** The id of its cluster; this cluster's id for another agent of this cluster. */
	readonly member: string;
	/** The caller whose call it forwards, as that member reports it: the caller was verified and authorised there. */
	readonly onBehalfOf?: PassedOnCaller;
}

export type Caller = TokenCaller | PeerCaller;

export type Admission =
	| { readonly kind: "admitted"; readonly caller: Caller }
	| { readonly kind: "refused"; readonly status: Partial<StatusObject> };

/** How much of a user name is logged. User names may have any length. */
const longestShown = 253;

/** Returns the caller as logs show it: only what is verified, here or by the member that is named beside it. */
export function callerFields(caller: Caller): Readonly<Record<string, string>> {
	if (caller.kind === "peer") {
		const { member, onBehalfOf } = caller;
		return { member: shortenTo(member, longestShown), ...(onBehalfOf && userFields(onBehalfOf)) };
	}
	return userFields(passedOnCaller(caller));
}

/**
 * Returns the caller for whom the call is made, as verified here or by the member that forwarded it; undefined if a member calls for
 * itself.
 */
export function verifiedCaller(caller: Caller): PassedOnCaller | undefined {
	return caller.kind === "token" ? passedOnCaller(caller) : caller.onBehalfOf;
}

/** Returns what another member is told about the caller. */
export function passedOnCaller({ user, tokenId }: TokenCaller): PassedOnCaller {
	return { user: user.username, tokenId };
}

function userFields({ user, tokenId }: PassedOnCaller): Readonly<Record<string, string>> {
	return { user: shortenTo(user, longestShown), tokenId: shortenTo(tokenId, longestShown) };
}

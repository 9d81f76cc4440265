// Describes the verified caller of a call. It never contains what a caller claims about itself, such as a holder or a person's name.
import type { StatusObject } from "@grpc/grpc-js";
import { shortenTo } from "../../disruption/quote.ts";
import type { PassedOnCaller } from "../../proto/passed-on.ts";

export interface ReviewedUser {
	readonly username: string;
	readonly uid: string;
	readonly groups: readonly string[];
	readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** A caller whose token this cluster's API server has accepted. */
export interface TokenCaller {
	readonly kind: "token";
	readonly user: ReviewedUser;
	/** The token's credential id, which the API server's audit log also has; "" if unknown. */
	readonly tokenId: string;
	/** The token's SHA-256 hash, by which answers are cached and calls are counted. */
	readonly tokenHash: string;
}

/** Another agent, identified by its certificate. Except for greetings, its cluster is this one or a member of the fleet. */
interface PeerCaller {
	readonly kind: "peer";
	/** The id of its cluster, which may be this cluster. */
	readonly member: string;
	/** The caller whose call it forwards, verified and authorised by that member. */
	readonly onBehalfOf?: PassedOnCaller;
}

export type Caller = TokenCaller | PeerCaller;

export type Admission =
	| { readonly kind: "admitted"; readonly caller: Caller }
	| { readonly kind: "refused"; readonly status: Partial<StatusObject> };

/** Limits what logs show of a user name, which may have any length. */
const longestShown = 253;

export function callerFields(caller: Caller): Readonly<Record<string, string>> {
	if (caller.kind === "peer") {
		const { member, onBehalfOf } = caller;
		return { member: shortenTo(member, longestShown), ...(onBehalfOf && userFields(onBehalfOf)) };
	}
	return userFields(passedOnCaller(caller));
}

/** Returns the caller for whom the call is made; undefined if a member calls for itself. */
export function verifiedCaller(caller: Caller): PassedOnCaller | undefined {
	return caller.kind === "token" ? passedOnCaller(caller) : caller.onBehalfOf;
}

export function passedOnCaller({ user, tokenId }: TokenCaller): PassedOnCaller {
	return { user: user.username, tokenId };
}

function userFields({ user, tokenId }: PassedOnCaller): Readonly<Record<string, string>> {
	return { user: shortenTo(user, longestShown), tokenId: shortenTo(tokenId, longestShown) };
}

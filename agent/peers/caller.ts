// Who a call is from, as far as that is verified. What a caller says of itself (a holder, a person's name) is never in here.
import type { StatusObject } from "@grpc/grpc-js";
import { shortenTo } from "../../disruption/quote.ts";
import type { PassedOnCaller } from "../../proto/passed-on.ts";

/** The user as a TokenReview gives it. */
export interface ReviewedUser {
	readonly username: string;
	readonly uid: string;
	readonly groups: readonly string[];
	readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** Whoever brought a token that this cluster's API server knows. */
export interface TokenCaller {
	readonly kind: "token";
	readonly user: ReviewedUser;
	/** The id under which the API server's audit log has the token's issue; "" where the server gives none. */
	readonly tokenId: string;
	/** Stands for the token where answers are kept: its hash, never the token itself. */
	readonly tokenHash: string;
}

/** Another agent of the fleet, by its certificate. */
interface PeerCaller {
	readonly kind: "peer";
	/** The id of its cluster; this one's for an agent beside us. */
	readonly member: string;
	/** Whose call it passes on, by that member's word: the caller was verified and authorised there. */
	readonly onBehalfOf?: PassedOnCaller;
}

export type Caller = TokenCaller | PeerCaller;

export type Admission =
	| { readonly kind: "admitted"; readonly caller: Caller }
	| { readonly kind: "refused"; readonly status: Partial<StatusObject> };

/** Names of users may have any length. */
const longestShown = 253;

/** The caller as logs show it: what is verified, here or by the member that is named beside it, and no more. */
export function callerFields(caller: Caller): Readonly<Record<string, string>> {
	if (caller.kind === "peer") {
		const { member, onBehalfOf } = caller;
		return { member: shortenTo(member, longestShown), ...(onBehalfOf && userFields(onBehalfOf)) };
	}
	return userFields(passedOnCaller(caller));
}

/** Whose call it is, by our own word or that of the member which passed it on. */
export function verifiedCaller(caller: Caller): PassedOnCaller | undefined {
	return caller.kind === "token" ? passedOnCaller(caller) : caller.onBehalfOf;
}

/** What another member is told of the caller. */
export function passedOnCaller({ user, tokenId }: TokenCaller): PassedOnCaller {
	return { user: user.username, tokenId };
}

function userFields({ user, tokenId }: PassedOnCaller): Readonly<Record<string, string>> {
	return { user: shortenTo(user, longestShown), tokenId: shortenTo(tokenId, longestShown) };
}

// Who a call is from, as far as that is verified. What a caller says of itself (a holder, a person's name) is never in here.
import type { StatusObject } from "@grpc/grpc-js";
import { shortenTo } from "../disruption/quote.ts";

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
export interface PeerCaller {
	readonly kind: "peer";
	readonly member: string;
}

export type Caller = TokenCaller | PeerCaller;

export type Admission =
	| { readonly kind: "admitted"; readonly caller: Caller }
	| { readonly kind: "refused"; readonly status: Partial<StatusObject> };

/** Names of users may have any length. */
const longestShown = 253;

/** The caller as logs show it: what is verified, and no more. */
export function callerFields(caller: Caller): Readonly<Record<string, string>> {
	return caller.kind === "token"
		? { user: shortenTo(caller.user.username, longestShown), tokenId: shortenTo(caller.tokenId, longestShown) }
		: { member: shortenTo(caller.member, longestShown) };
}

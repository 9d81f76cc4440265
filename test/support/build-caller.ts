import type { ReviewedUser, TokenCaller } from "../../agent/peers/caller.ts";

export const operator: ReviewedUser = {
	username: "system:serviceaccount:xpdb-system:xpdb-operator",
	uid: "uid",
	groups: ["system:serviceaccounts"],
	extra: { "authentication.kubernetes.io/credential-id": ["JTI=1"] },
};

export function buildTokenCaller(changes: Partial<TokenCaller> = {}): TokenCaller {
	return { kind: "token", user: operator, tokenId: "JTI=1", tokenHash: "hash-1", ...changes };
}

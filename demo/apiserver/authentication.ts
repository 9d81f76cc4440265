// Finds the user of a request: by a client certificate of this cluster's CA, or by a token of one of its service accounts.
import type { TLSSocket } from "node:tls";
import type { User } from "./api-request.ts";
import { issuer, type TokenIssuer } from "./tokens.ts";

const anonymous: User = { name: "system:anonymous", groups: ["system:unauthenticated"] };

/**
 * Returns the anonymous user if there is neither a valid certificate nor a token. Undefined if there is only a token, and it is not valid.
 */
export async function authenticate(
	tokens: TokenIssuer,
	{ socket, authorization }: { readonly socket: TLSSocket; readonly authorization: string | undefined },
): Promise<User | undefined> {
	const user = socket.authorized ? certifiedUser(socket) : undefined;
	if (user) return user;
	const [, token] = /^Bearer (.+)$/i.exec(authorization ?? "") ?? [];
	if (token === undefined) return anonymous;
	const verified = await tokens.verify(token);
	return verified?.audiences.includes(issuer) === true ? verified.user : undefined;
}

function certifiedUser(socket: TLSSocket): User | undefined {
	// Node's type has one of each, but several organizations come as a list.
	const subject = socket.getPeerCertificate().subject as { CN?: string; O?: string | string[] } | undefined;
	if (subject?.CN === undefined) return undefined;
	return { name: subject.CN, groups: [...[subject.O ?? []].flat(), "system:authenticated"] };
}

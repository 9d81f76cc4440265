// Finds the user of a request by its client certificate or its service account token.
import type { TLSSocket } from "node:tls";
import type { User } from "./api-request.ts";
import { issuer, type TokenIssuer } from "./tokens.ts";

const anonymous: User = { name: "system:anonymous", groups: ["system:unauthenticated"] };

/**
 * Returns the anonymous user for a request with neither a valid certificate nor a token. Undefined if its only credential is an invalid
 * token.
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
	// Node's types declare one organization, but several come as a list.
	const subject = socket.getPeerCertificate().subject as { CN?: string; O?: string | string[] } | undefined;
	if (subject?.CN === undefined) return undefined;
	return { name: subject.CN, groups: [...[subject.O ?? []].flat(), "system:authenticated"] };
}

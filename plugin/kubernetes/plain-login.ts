// Adds certificates, a token or a password to a request's options, as client-node's KubeConfig does. client-node itself is needed only for
// OIDC and SOCKS proxies.
import { readFileSync } from "node:fs";
import type { OutgoingHttpHeaders, RequestOptions } from "node:http";
import type { User } from "@kubernetes/client-node";
import { isRecord } from "../../disruption/record.ts";
import type { Connection } from "./connection.ts";
import type { ExecCredential } from "./exec-credentials.ts";

export interface LoginOptions extends RequestOptions {
	headers: OutgoingHttpHeaders;
}

/** Rejects if a file cannot be read. */
export type Login = (options: LoginOptions, credential: ExecCredential | undefined) => Promise<void>;

/** Undefined if only client-node supports the login. Files are read at each login. */
export function findPlainLogin({ cluster, user }: Pick<Connection, "cluster" | "user">): Login | undefined {
	const tokenFile = tokenFileOf(user);
	if (cluster.proxyUrl || tokenFile === undefined) return undefined;
	return async (options, credential) => {
		const known = withCredential(user, credential);
		// A plugin's token takes precedence over the file, as in client-node.
		const token = known.token || (tokenFile && readFileSync(tokenFile, "utf8").trim());
		Object.assign(options, {
			ca: contentOf(cluster.caFile, cluster.caData),
			cert: contentOf(known.certFile, known.certData),
			key: contentOf(known.keyFile, known.keyData),
			...(cluster.skipTLSVerify && { rejectUnauthorized: false }),
			...(cluster.tlsServerName && { servername: cluster.tlsServerName }),
			...(known.username && { auth: `${known.username}:${known.password ?? ""}` }),
		});
		options.headers = {
			...options.headers,
			...(token && { Authorization: `Bearer ${token}` }),
			...(known.impersonateUser !== undefined && { "Impersonate-User": known.impersonateUser }),
		};
	};
}

/** The user's own fields take precedence over the credential's, as in client-go. */
export function withCredential(user: User, credential: ExecCredential | undefined): User {
	if (!credential) return user;
	const { token, cert, key } = credential;
	return {
		...user,
		token: user.token || token,
		certData: user.certData || base64(cert),
		keyData: user.keyData || base64(key),
	};
}

export function base64(text: string): string {
	return Buffer.from(text).toString("base64");
}

/** "" if there is no token file. Undefined if another auth provider supplies the token. */
function tokenFileOf(user: User): string | undefined {
	const provider: unknown = user.authProvider;
	if (!provider) return "";
	if (!isRecord(provider) || provider["name"] !== "tokenFile" || !isRecord(provider["config"])) return undefined;
	const { tokenFile } = provider["config"];
	return typeof tokenFile === "string" ? tokenFile : undefined;
}

function contentOf(file: string | undefined, data: string | undefined): Buffer | undefined {
	if (file) return readFileSync(file);
	return data ? Buffer.from(data, "base64") : undefined;
}

// Implements the login that most kubeconfigs need: adds certificates, a token or a password to the options of a request, as client-node's
// KubeConfig does. client-node is needed only for its auth providers and proxies.
import { readFileSync } from "node:fs";
import type { OutgoingHttpHeaders, RequestOptions } from "node:http";
import type { User } from "@kubernetes/client-node";
import { isRecord } from "../../disruption/record.ts";
import type { Connection } from "./connection.ts";
import type { ExecCredential } from "./exec-credentials.ts";

export interface LoginOptions extends RequestOptions {
	headers: OutgoingHttpHeaders;
}

/** Adds the credentials to the options of a request, including those of an exec plugin. Throws if a file cannot be read. */
export type Login = (options: LoginOptions, credential: ExecCredential | undefined) => Promise<void>;

/** Returns the login. Undefined if only client-node supports it. Files are read at each login. */
export function findPlainLogin({ cluster, user }: Pick<Connection, "cluster" | "user">): Login | undefined {
	const tokenFile = tokenFileOf(user);
	if (cluster.proxyUrl || tokenFile === undefined) return undefined;
	return async (options, credential) => {
		const known = withCredential(user, credential);
		// A token from a program takes precedence over the file, as in client-node.
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

/** Returns the user with the credential, as if the kubeconfig had it. The user's own fields take precedence, as in client-go. */
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

/** "" if there is no token file. Undefined if the token comes from another source. */
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

// Defines how the agent reaches its own API server: with the Pod's ServiceAccount or with a kubeconfig. Files with tokens, certificates and
// CAs are read again when needed, because they are rotated. TLS is always verified.
import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { BoundedError } from "../../disruption/bounded-error.ts";
import { parserProblem } from "../../disruption/parser-problem.ts";
import { quote } from "../../disruption/quote.ts";
import { isRecord } from "../../disruption/record.ts";

interface TlsMaterial {
	readonly ca?: string | Buffer;
	readonly cert?: string | Buffer;
	readonly key?: string | Buffer;
	readonly servername?: string;
}

export interface ApiAccess {
	/** https://HOST:PORT, optionally with a path that every request starts with. */
	readonly server: string;
	readonly tls: () => TlsMaterial;
	readonly token: () => string | undefined;
}

/** The API server cannot be reached as configured; a person must change the configuration. */
export class ApiAccessError extends BoundedError {
	override readonly name = "ApiAccessError";
	readonly reason = "ApiAccess";
}

const serviceAccountDirectory = "/var/run/secrets/kubernetes.io/serviceaccount";

/** Returns access with the ServiceAccount of the Pod that this agent runs in. Throws ApiAccessError outside of a cluster. */
export function inClusterAccess(options: {
	readonly env: Readonly<Record<string, string | undefined>>;
	readonly directory?: string;
}): ApiAccess {
	const { env, directory = serviceAccountDirectory } = options;
	const host = env["KUBERNETES_SERVICE_HOST"];
	const port = env["KUBERNETES_SERVICE_PORT"];
	if (!host || !port) {
		throw new ApiAccessError(
			"cannot find the API server: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set, so this is not a Pod; give --kubeconfig",
		);
	}
	return {
		server: `https://${host.includes(":") ? `[${host}]` : host}:${port}`,
		tls: () => ({ ca: readFileSync(join(directory, "ca.crt")) }),
		token: () => readToken(join(directory, "token")),
	};
}

/**
 * Returns access with one context of a kubeconfig. Rejects with ApiAccessError if the kubeconfig cannot be used.
 *
 * KubeConfig of @kubernetes/client-node is not used: loading that package costs the agent 90 MB, and it does not support `tokenFile`.
 */
export async function kubeconfigAccess(options: {
	readonly path: string;
	readonly context?: string;
}): Promise<ApiAccess> {
	const { parse } = await import("yaml"); // Imported only here, to save memory.
	const file = resolve(options.path);
	const fail = (why: string): ApiAccessError => new ApiAccessError(`cannot use kubeconfig "${file}": ${why}`);
	let config: unknown;
	try {
		config = parse(readFileSync(file, "utf8"), { logLevel: "error" });
	} catch (error) {
		throw fail(parserProblem(error));
	}
	if (!isRecord(config)) throw fail("it is not an object");
	const contextName = options.context ?? text(config, "current-context");
	if (!contextName) throw fail("it has no current-context; give --context");
	const context = named(config["contexts"], contextName, "context");
	if (!context) throw fail(`it has no context ${quote(contextName)}`);
	const clusterName = text(context, "cluster") ?? "";
	const cluster = named(config["clusters"], clusterName, "cluster");
	if (!cluster) throw fail(`it has no cluster ${quote(clusterName)}`);
	const userName = text(context, "user") ?? "";
	const user = named(config["users"], userName, "user");
	if (!user) throw fail(`it has no user ${quote(userName)}`);

	const server = text(cluster, "server");
	if (!server?.startsWith("https://") || !URL.canParse(server))
		throw fail(`cluster ${quote(clusterName)} has no server that is a URL with https://`);
	if (cluster["insecure-skip-tls-verify"] === true) {
		throw fail(
			`cluster ${quote(clusterName)} has insecure-skip-tls-verify, and the agent verifies its API server always`,
		);
	}
	for (const field of ["exec", "auth-provider", "username", "as"]) {
		if (user[field] !== undefined && user[field] !== null) {
			throw fail(`user ${quote(userName)} has ${field}; the agent knows a token, a tokenFile and client certificates`);
		}
	}
	if (text(cluster, "proxy-url"))
		throw fail(`cluster ${quote(clusterName)} has proxy-url, which the agent does not support`);
	const directory = dirname(file);
	const ca = material(cluster, "certificate-authority", directory);
	const cert = material(user, "client-certificate", directory);
	const key = material(user, "client-key", directory);
	const servername = text(cluster, "tls-server-name");
	const tokenFile = text(user, "tokenFile");
	const token = text(user, "token");
	return {
		server,
		tls: () => ({
			...(ca && { ca: ca() }),
			...(cert && { cert: cert() }),
			...(key && { key: key() }),
			...(servername !== undefined && { servername }),
		}),
		token: () => (tokenFile ? readToken(resolve(directory, tokenFile)) : token),
	};
}

function readToken(path: string): string {
	const token = readFileSync(path, "utf8").trim();
	if (token === "") throw new ApiAccessError(`cannot read token: "${path}" is empty`);
	return token;
}

/** As in client-go, `NAME-data` in base64 takes precedence over the file `NAME`. */
function material(
	object: Readonly<Record<string, unknown>>,
	name: string,
	directory: string,
): (() => Buffer) | undefined {
	const data = text(object, `${name}-data`);
	if (data) return () => Buffer.from(data, "base64");
	const path = text(object, name);
	return path ? () => readFileSync(resolve(directory, path)) : undefined;
}

function named(list: unknown, name: string, field: string): Record<string, unknown> | undefined {
	if (!Array.isArray(list)) return undefined;
	const entry: unknown = list.find((item: unknown) => isRecord(item) && item["name"] === name);
	const value = isRecord(entry) ? entry[field] : undefined;
	return isRecord(value) ? value : undefined;
}

function text(object: Readonly<Record<string, unknown>>, field: string): string | undefined {
	const value = object[field];
	return typeof value === "string" && value !== "" ? value : undefined;
}

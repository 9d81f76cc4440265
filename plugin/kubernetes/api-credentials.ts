// TLS options and headers for one API server: certificates, tokens and passwords as they are, OIDC and proxies by client-node's KubeConfig,
// which takes 230 ms of CPU to load, as much as all else that an eviction needs; and exec plugins.
import { type OutgoingHttpHeaders, Agent as PlainAgent, type RequestOptions } from "node:http";
import { Agent } from "node:https";
import { ConnectionError } from "./api-error.ts";
import { clientVersion } from "./client-version.ts";
import type { Connection } from "./connection.ts";
import { createExecCredentials, type ExecCredential } from "./exec-credentials.ts";
import { base64, findPlainLogin, type Login, type LoginOptions, withCredential } from "./plain-login.ts";

export interface Credentials {
	readonly tls: RequestOptions;
	readonly headers: OutgoingHttpHeaders;
	/** Its connections are kept, and made through a proxy where there is one. */
	readonly agent: PlainAgent;
}

export interface CredentialReader {
	current(): Promise<Credentials>;
	/** Reads everything anew next time; false where nothing could change. */
	forget(): boolean;
	close(): void;
}

interface Known extends Credentials {
	readonly fingerprint: string;
	readonly readAt: number;
}

/** Puts the credentials into the options of a request; resolves with whether its agent is one for a proxy. */
type ApplyCredentials = (options: LoginOptions) => Promise<boolean>;

/** Credentials from files and exec plugins change; how long they are taken for current. */
const freshForMs = 30_000;

/** Reads files and runs exec plugins again from time to time; a changed certificate gets connections of its own. */
export function createCredentialReader(connection: Connection): CredentialReader {
	const changing = canChange(connection);
	const agents = new Set<PlainAgent>();
	let config: Promise<ApplyCredentials> | undefined;
	let pending: Promise<Known> | undefined;
	let known: Known | undefined;

	async function read(): Promise<Known> {
		config ??= loadConfig(connection);
		const options: LoginOptions & Record<string, unknown> = { headers: {} };
		let proxied: boolean;
		try {
			const apply = await config;
			proxied = await apply(options);
		} catch (error) {
			// An exec plugin that fails, a file that is not there, an entry that makes no sense.
			throw new ConnectionError(connection.server, error);
		}
		const { ca, cert, key, rejectUnauthorized, servername, auth } = options;
		const tls: Record<string, unknown> = {};
		for (const [name, value] of Object.entries({ ca, cert, key, rejectUnauthorized, servername })) {
			if (value !== undefined && value !== null) tls[name] = value;
		}
		const fingerprint = JSON.stringify([String(ca), String(cert), String(key), rejectUnauthorized, servername]);
		const agent =
			known?.fingerprint === fingerprint
				? known.agent
				: createAgent(connection, tls, proxied ? options.agent : undefined);
		agents.add(agent);
		const headers: OutgoingHttpHeaders = {
			"user-agent": `kubectl-xpdb/${clientVersion}`,
			...options.headers,
			...connection.headers,
			...(typeof auth === "string" && { authorization: `Basic ${base64(auth)}` }),
		};
		return { tls, headers, agent, fingerprint, readAt: performance.now() };
	}

	return {
		async current() {
			if (known && (!changing || performance.now() - known.readAt < freshForMs)) return known;
			pending ??= read().finally(() => {
				pending = undefined;
			});
			known = await pending;
			return known;
		},
		forget() {
			if (!changing) return false;
			config = undefined;
			known = undefined;
			return true;
		},
		close() {
			for (const agent of agents) agent.destroy();
		},
	};
}

function canChange({ exec, cluster, user }: Connection): boolean {
	return Boolean(exec ?? user.authProvider) || [cluster.caFile, user.certFile, user.keyFile].some(Boolean);
}

async function loadConfig(connection: Connection): Promise<ApplyCredentials> {
	const { cluster, exec } = connection;
	const plugin = exec && createExecCredentials(exec);
	const login = findPlainLogin(connection) ?? (await loadClientNode(connection));
	return async (options) => {
		await login(options, await plugin?.current());
		return Boolean(cluster.proxyUrl);
	};
}

async function loadClientNode({ cluster, user }: Connection): Promise<Login> {
	const { KubeConfig } = await import("@kubernetes/client-node");
	let loaded:
		| { readonly config: InstanceType<typeof KubeConfig>; readonly credential: ExecCredential | undefined }
		| undefined;
	return async (options, credential) => {
		if (!loaded || loaded.credential !== credential) {
			// A new one each time: it keeps the first certificate of a user for ever.
			const config = new KubeConfig();
			config.loadFromClusterAndUser(cluster, withCredential(user, credential));
			loaded = { config, credential };
		}
		await loaded.config.applyToHTTPSOptions(options);
	};
}

/** `proxied`: the agent that client-node made for a proxy. Node's own keep connections through one, and have our limit. */
function createAgent(
	{ server, httpProxy }: Connection,
	tls: Readonly<Record<string, unknown>>,
	proxied: unknown,
): PlainAgent {
	if (proxied instanceof PlainAgent) return proxied;
	// Evictions run side by side, each for as long as the server takes; kubectl has no limit at all.
	const proxyEnv = httpProxy === undefined ? {} : { HTTP_PROXY: httpProxy, HTTPS_PROXY: httpProxy };
	const options = { keepAlive: true, maxSockets: 128, proxyEnv };
	return server.startsWith("http:") ? new PlainAgent(options) : new Agent({ ...tls, ...options });
}

// Provides TLS options and headers for one API server: certificates, tokens, passwords and exec plugins. client-node's KubeConfig is used
// only for OIDC, SOCKS proxies and the HTTPS proxy of a kubeconfig, because loading it takes 230 ms of CPU. Other proxies are left to Node's
// own agents, because those of client-node cannot connect to an IPv6 address, or through one.
import { type OutgoingHttpHeaders, Agent as PlainAgent } from "node:http";
import { Agent } from "node:https";
import { isIP } from "node:net";
import { checkServerIdentity, type ConnectionOptions, createSecureContext } from "node:tls";
import { isRecord } from "../../disruption/record.ts";
import { dialOptions } from "../../proto/dial-options.ts";
import { ConnectionError } from "./api-error.ts";
import { clientVersion } from "./client-version.ts";
import type { Connection } from "./connection.ts";
import type { ExecCredential } from "./exec-credentials.ts";
import { type ExecCredentials, LoginDesk } from "./login-desk.ts";
import { base64, findPlainLogin, type Login, type LoginOptions, withCredential } from "./plain-login.ts";
import { trustNamedAuthorities, trustPublicAuthorities } from "./public-authorities.ts";

type Pem = Buffer | string;

interface TlsOptions
	extends Pick<
		ConnectionOptions,
		"secureContext" | "rejectUnauthorized" | "servername" | "checkServerIdentity" | "minVersion"
	> {
	readonly ca?: Pem | undefined;
	readonly cert?: Pem | undefined;
	readonly key?: Pem | undefined;
}

export interface Credentials {
	readonly tls: TlsOptions;
	readonly headers: OutgoingHttpHeaders;
	readonly agent: PlainAgent;
}

export interface CredentialReader {
	current(): Promise<Credentials>;
	/** Makes the next read start afresh. Returns false if the credentials cannot change. */
	forget(): boolean;
	close(): void;
}

interface Secured extends Pick<Credentials, "tls" | "agent"> {
	readonly fingerprint: string;
}

interface Known extends Secured, Credentials {
	readonly readAt: number;
}

/** Resolves with whether `options.agent` is one for a proxy. */
type ApplyCredentials = (options: LoginOptions) => Promise<boolean>;

const freshForMs = 30_000;

/**
 * Before a request, reads the files again if the last read was 30 s ago or more. Runs an exec plugin again when its credential has expired
 * or was refused.
 */
export function createCredentialReader(connection: Connection, logins = new LoginDesk()): CredentialReader {
	const program = connection.exec && logins.open(connection.exec, connection.context);
	const changing = canChange(connection);
	const agents = new Set<PlainAgent>();
	let config: Promise<ApplyCredentials> | undefined;
	let pending: Promise<Known> | undefined;
	let known: Known | undefined;

	async function read(): Promise<Known> {
		config ??= loadConfig(connection, program);
		const options: LoginOptions & TlsOptions = { headers: {} };
		let secured: Secured;
		try {
			const apply = await config;
			const proxied = await apply(options);
			secured = secure(options, proxied ? options.agent : undefined);
		} catch (error) {
			throw new ConnectionError(connection.server, error);
		}
		agents.add(secured.agent);
		const headers: OutgoingHttpHeaders = {
			"user-agent": `kubectl-xpdb/${clientVersion}`,
			...options.headers,
			...connection.headers,
			...(typeof options.auth === "string" && { authorization: `Basic ${base64(options.auth)}` }),
		};
		return { ...secured, headers, readAt: performance.now() };
	}

	/** Returns the previous result if nothing has changed. `proxied`: the agent that client-node made for a proxy, if any. */
	function secure(options: TlsOptions, proxied: unknown): Secured {
		const { ca, cert, key, servername } = options;
		// Always set: otherwise NODE_TLS_REJECT_UNAUTHORIZED would decide.
		const rejectUnauthorized = options.rejectUnauthorized !== false;
		const fingerprint = JSON.stringify([
			ca?.toString(),
			cert?.toString(),
			key?.toString(),
			rejectUnauthorized,
			servername,
		]);
		if (known?.fingerprint === fingerprint) return known;
		const { server, httpProxy = "" } = connection;
		const isForAnyone = server.startsWith("https:") && ca === undefined && rejectUnauthorized;
		if (isForAnyone || httpProxy.startsWith("https:")) trustPublicAuthorities();
		else trustNamedAuthorities();
		// Always set, to kubectl's oldest TLS version: otherwise NODE_OPTIONS could lower it.
		const material = { ...given({ ca, cert, key }), minVersion: "TLSv1.2" as const };
		// Parse the certificates once, not for each connection. client-node's agents for proxies cannot use a context.
		const shared =
			proxied === undefined && server.startsWith("https:")
				? { secureContext: createSecureContext(material) }
				: material;
		const name = servername ?? (proxied === undefined ? undefined : addressOf(server));
		const tls = { ...shared, ...given({ rejectUnauthorized, ...nameOf(name) }) };
		return { tls, agent: createAgent(connection, tls, withoutBrackets(proxied)), fingerprint };
	}

	return {
		async current() {
			const isFresh = (readAt: number): boolean => performance.now() - readAt < freshForMs && program?.isOver !== true;
			if (known && (!changing || isFresh(known.readAt))) return known;
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
			program?.forget();
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

async function loadConfig(connection: Connection, program: ExecCredentials | undefined): Promise<ApplyCredentials> {
	const { cluster } = connection;
	const login = findPlainLogin(connection) ?? (await loadClientNode(connection));
	return async (options) => {
		await login(options, await program?.current());
		return Boolean(cluster.proxyUrl);
	};
}

async function loadClientNode({ cluster, user }: Connection): Promise<Login> {
	// A token issuer or a proxy may have a certificate from a public authority.
	trustPublicAuthorities();
	const { KubeConfig } = await import("@kubernetes/client-node");
	let loaded:
		| { readonly config: InstanceType<typeof KubeConfig>; readonly credential: ExecCredential | undefined }
		| undefined;
	return async (options, credential) => {
		if (!loaded || loaded.credential !== credential) {
			// A KubeConfig keeps a user's first certificate forever, so each credential gets its own KubeConfig.
			const config = new KubeConfig();
			config.loadFromClusterAndUser(cluster, withCredential(user, credential));
			loaded = { config, credential };
		}
		await loaded.config.applyToHTTPSOptions(options);
	};
}

function createAgent({ server, httpProxy }: Connection, tls: TlsOptions, proxied: unknown): PlainAgent {
	if (proxied instanceof PlainAgent) return proxied;
	const proxyEnv = httpProxy === undefined ? {} : { HTTP_PROXY: httpProxy, HTTPS_PROXY: httpProxy };
	// High, because many evictions run in parallel, and each occupies a socket until the server answers.
	const options = { ...dialOptions, keepAlive: true, maxSockets: 128, proxyEnv };
	return server.startsWith("http:") ? new PlainAgent(options) : new Agent({ ...tls, ...options });
}

/** client-node's agent for SOCKS proxies would look up an IPv6 address with its brackets, as a name. */
function withoutBrackets(proxied: unknown): unknown {
	if (isRecord(proxied) && isRecord(proxied["proxy"]) && typeof proxied["proxy"]["host"] === "string") {
		proxied["proxy"]["host"] = withoutIpv6Brackets(proxied["proxy"]["host"]);
	}
	return proxied;
}

/** The server's IP address, which that agent would not check: it would check "localhost". Undefined if the server has a name. */
function addressOf(server: string): string | undefined {
	const host = withoutIpv6Brackets(new URL(server).hostname);
	return isIP(host) === 0 ? undefined : host;
}

function withoutIpv6Brackets(host: string): string {
	return host.replace(/^\[(.*)\]$/, "$1");
}

/** An IP address is checked against the certificate but not sent as the server name (RFC 6066), because Node would warn. */
function nameOf(servername: string | undefined): TlsOptions {
	if (servername === undefined || isIP(servername) === 0) return given({ servername });
	return { servername: "", checkServerIdentity: (_, certificate) => checkServerIdentity(servername, certificate) };
}

/** Removes unset options: Node would treat undefined and null as values. */
function given(options: TlsOptions): TlsOptions {
	return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined && value !== null));
}

// TLS options and headers for one API server, by client-node's KubeConfig: certificates, tokens, OIDC, proxies; and by exec plugins.
import { Agent as PlainAgent, type OutgoingHttpHeaders, type RequestOptions } from "node:http";
import { Agent } from "node:https";
import { ConnectionError } from "./api-error.ts";
import { clientVersion } from "./client-version.ts";
import type { Connection } from "./connection.ts";
import { createExecCredentials } from "./exec-credentials.ts";

export interface DialOptions {
	readonly tls: RequestOptions;
	readonly headers: OutgoingHttpHeaders;
}

export interface Credentials extends DialOptions {
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

interface LoadedConfig {
	readonly proxied: boolean;
	readonly apply: (options: RequestOptions & { readonly headers: OutgoingHttpHeaders }) => Promise<void>;
}

/** Credentials from files and exec plugins change; how long they are taken for current. */
const freshForMs = 30_000;
const changingFields = /"(auth-provider|client-certificate|client-key|certificate-authority)":/;

/** Reads files and runs exec plugins again from time to time; a changed certificate gets connections of its own. */
export function createCredentialReader(connection: Connection): CredentialReader {
	const changing = connection.exec !== undefined || changingFields.test(connection.kubeconfig);
	const agents = new Set<PlainAgent>();
	let config: Promise<LoadedConfig> | undefined;
	let pending: Promise<Known> | undefined;
	let known: Known | undefined;

	async function read(): Promise<Known> {
		config ??= loadConfig(connection);
		const headersOfUser: OutgoingHttpHeaders = {};
		const options: RequestOptions & Record<string, unknown> & { headers: OutgoingHttpHeaders } = {
			headers: headersOfUser,
		};
		let proxied: boolean;
		try {
			const loaded = await config;
			proxied = loaded.proxied;
			await loaded.apply(options);
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
			...headersOfUser,
			...connection.headers,
			...(typeof auth === "string" && { authorization: `Basic ${Buffer.from(auth).toString("base64")}` }),
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

async function loadConfig({ kubeconfig, exec }: Connection): Promise<LoadedConfig> {
	const { KubeConfig } = await import("@kubernetes/client-node");
	const config = new KubeConfig();
	config.loadFromString(kubeconfig);
	const proxied = (config.getCurrentCluster()?.proxyUrl ?? "") !== "";
	const plugin = exec && createExecCredentials(exec);
	return {
		proxied,
		async apply(options) {
			await config.applyToHTTPSOptions(options);
			if (!plugin) return;
			const { token, cert, key } = await plugin.current();
			// A token of the kubeconfig's own goes before, as in client-go.
			if (token !== "") options.headers["Authorization"] ??= `Bearer ${token}`;
			if (cert !== "") Object.assign(options, { cert, key });
		},
	};
}

/** `proxied`: the agent that client-node made for a proxy. Without one, HTTPS_PROXY and NO_PROXY hold, as for kubectl. */
function createAgent({ server }: Connection, tls: Readonly<Record<string, unknown>>, proxied: unknown): PlainAgent {
	if (proxied instanceof PlainAgent) return proxied;
	// Evictions run side by side, each for as long as the server takes; kubectl has no limit at all.
	const options = { keepAlive: true, maxSockets: 128, proxyEnv: process.env };
	return server.startsWith("http:") ? new PlainAgent(options) : new Agent({ ...tls, ...options });
}

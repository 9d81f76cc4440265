// Creates clients that call agents over TLS 1.3. The agent's certificate must come from the fleet's CA and contain the name that all agents
// share. If the caller knows which member it dials, the certificate must also name that member. The caller identifies itself with a
// short-lived token (plugin) or a certificate of that CA (agents). After the agent's certificate has expired, each call over its connection
// fails.
import { X509Certificate } from "node:crypto";
import { checkServerIdentity, createSecureContext, type PeerCertificate } from "node:tls";
import {
	type CallCredentials,
	type ChannelCredentials,
	type ChannelOptions,
	connectivityState,
	credentials,
	Metadata,
	status,
} from "@grpc/grpc-js";
import { agentName } from "../disruption/agent-names.ts";
import { AgentProtocolError, AgentUnavailableError } from "../disruption/errors.ts";
import { BoundedAgentClient, longestAnswer } from "./bounded-answers.ts";
import type { AgentServiceClient } from "./gen/xpdb/v1/agent.ts";
import { describeMember, findMemberId } from "./member-certificate.ts";
import { type CallObserver, observeCalls } from "./observe-calls.ts";
import { statusOfError } from "./status.ts";

export type CallerIdentity =
	| {
			readonly kind: "token";
			/** Called before each call. See createTokenSource. */
			readonly token: () => Promise<string>;
	  }
	/** Both in PEM. */
	| { readonly kind: "certificate"; readonly certificate: string; readonly privateKey: string };

interface AgentClientOptions {
	/** HOST:PORT, or unix:PATH for the local end of a tunnel. */
	readonly address: string;
	/** The name that the agent's certificate must contain, whatever the address is. See agentServerName. */
	readonly serverName: string;
	/** The fleet's CA in PEM, one certificate or more. */
	readonly ca: string;
	readonly identity: CallerIdentity;
	/** The cluster id that the certificate must name. If left out, any agent of the CA is accepted. */
	readonly member?: string;
	readonly observer?: CallObserver | undefined;
	/** Milliseconds since the epoch, to judge whether a certificate has expired. */
	readonly wallClock?: () => number;
}

/** Returns the name in the certificates of all agents whose anchor of trust is this namespace. */
export function agentServerName(agentNamespace: string): string {
	return `${agentName}.${agentNamespace}.svc`;
}

/** Creates a client. Its calls fail immediately while the agent cannot be reached. The caller must close it. */
export function createAgentClient(options: AgentClientOptions): AgentServiceClient {
	const longest = options.identity.kind === "certificate" ? longestAnswer.toAgent : longestAnswer.toPlugin;
	return new BoundedAgentClient(options.address, channelCredentials(options), {
		...channelOptions(options.serverName),
		"grpc.max_receive_message_length": longest,
		...(options.observer && { interceptors: [observeCalls(options.observer)] }),
	});
}

/** Whether the channel's connection is established: an agent has answered in TLS and HTTP/2. */
export function isConnected(client: AgentServiceClient): boolean {
	return client.getChannel().getConnectivityState(false) === connectivityState.READY;
}

export interface IssuedToken {
	readonly token: string;
	/** How long the token is valid, in milliseconds since it was requested. */
	readonly lifetimeMs: number;
}

/** The part of a token's lifetime in which it is used. The rest is for calls that take long, and for clocks that differ. */
const refreshAfter = 0.75;

/**
 * Returns a function that gives a valid token. Concurrent callers share one request. If a new token cannot be obtained, the old one is used
 * as long as it is valid.
 */
export function createTokenSource(
	issue: () => Promise<IssuedToken>,
	now: () => number = () => performance.now(),
): () => Promise<string> {
	let current: (IssuedToken & { readonly askedAt: number }) | undefined;
	let pending: Promise<string> | undefined;
	const refresh = async (): Promise<string> => {
		const askedAt = now();
		try {
			current = { ...(await issue()), askedAt };
		} catch (error) {
			if (!current || now() >= current.askedAt + current.lifetimeMs) throw error;
		} finally {
			pending = undefined;
		}
		return current.token;
	};
	return async () => {
		if (current && now() < current.askedAt + current.lifetimeMs * refreshAfter) return current.token;
		pending ??= refresh();
		return pending;
	};
}

function channelCredentials(options: AgentClientOptions): ChannelCredentials {
	const { ca, identity, member, wallClock = () => Date.now() } = options;
	parseCertificates(ca, "the fleet's CA");
	const context = createSecureContext({
		ca,
		minVersion: "TLSv1.3",
		...(identity.kind === "certificate" && { cert: identity.certificate, key: identity.privateKey }),
	});
	// When the agent's certificate on the latest connection expires. A channel to one address has one connection at a time.
	let validTo = "";
	const channel = credentials.createFromSecureContext(context, {
		rejectUnauthorized: true,
		checkServerIdentity: (host, certificate) => {
			const problem = checkServerIdentity(host, certificate) ?? (member && wrongMember(certificate, member));
			if (problem) return problem;
			validTo = certificate.valid_to;
			return undefined;
		},
	});
	const expired = (): Error | undefined =>
		Date.parse(validTo) > wallClock()
			? undefined
			: new AgentUnavailableError(`certificate has expired at ${validTo}`, "");
	return credentials.combineChannelCredentials(
		channel,
		callCredentials(async () => {
			const problem = expired();
			if (problem) throw problem;
			return identity.kind === "token" ? bearerMetadata(identity.token) : new Metadata();
		}),
	);
}

function wrongMember({ subjectaltname }: PeerCertificate, member: string): Error | undefined {
	if (findMemberId(subjectaltname) === member) return undefined;
	return new Error(`the agent's certificate is for ${describeMember(subjectaltname)}, not for cluster id "${member}"`);
}

function callCredentials(metadataOf: () => Promise<Metadata>): CallCredentials {
	return credentials.createFromMetadataGenerator((_parameters, callback) => {
		metadataOf().then(
			(metadata) => callback(null, metadata),
			(error: unknown) => {
				const message = error instanceof Error ? error.message : String(error);
				// Without a token the caller is unauthenticated. Some domain errors say more exactly what is wrong.
				const { code } = statusOfError(error);
				const known = code === status.UNAVAILABLE || code === status.PERMISSION_DENIED;
				callback(Object.assign(new Error(message), { code: known ? code : status.UNAUTHENTICATED }));
			},
		);
	});
}

async function bearerMetadata(token: () => Promise<string>): Promise<Metadata> {
	const value = await token();
	// grpc-js would show the token in its error, and the call would never end.
	if (!/^[\x21-\x7e]+$/.test(value)) {
		throw new AgentProtocolError("cannot use the token: it is empty or has characters that no header can carry");
	}
	const metadata = new Metadata();
	metadata.set("authorization", `Bearer ${value}`);
	return metadata;
}

/**
 * Returns every certificate of a PEM bundle: a CA that is being replaced has two. Throws an AgentProtocolError that names `what` if there
 * is no certificate, or if one cannot be read.
 */
export function parseCertificates(pem: string, what: string): readonly X509Certificate[] {
	const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
	const begun = pem.split("-----BEGIN").length - 1;
	try {
		// TLS would silently leave out an incomplete block.
		if (blocks.length === 0 || blocks.length !== begun) throw new TypeError("A block is not whole, or there is none");
		return blocks.map((block) => new X509Certificate(block));
	} catch (error) {
		throw new AgentProtocolError(`cannot read ${what}: it is not a certificate in PEM`, { cause: error });
	}
}

function channelOptions(serverName: string): ChannelOptions {
	return {
		// Both are needed: the TLS layer refuses IP addresses as names, and the HTTP/2 layer verifies the authority that it sends.
		"grpc.ssl_target_name_override": serverName,
		"grpc.default_authority": serverName,
		"grpc.enable_http_proxy": 0,
		// Only our own code retries, because it knows which calls may be sent again (member-client.ts).
		"grpc.enable_retries": 0,
		"grpc.service_config_disable_resolution": 1,
		"grpc.use_local_subchannel_pool": 1,
		// With these delays, an agent that is back is found within two seconds.
		"grpc.initial_reconnect_backoff_ms": 100,
		"grpc.max_reconnect_backoff_ms": 2_000,
		// A wait in line has no deadline. A dead connection is detected after 3 + 5 s, within the lease duration of 10 s.
		"grpc.keepalive_time_ms": 3_000,
		"grpc.keepalive_timeout_ms": 5_000,
	};
}

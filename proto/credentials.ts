// Channels to agents: TLS 1.3 against the fleet's CA, and the caller's identity, which is a short-lived token (plugin) or
// a certificate of that CA (agents among themselves). The agent's certificate has the name of all agents and, where the
// caller knows which member it dials, names that member; a certificate that expired since is refused call by call.
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
			/** Asked before each call; see createTokenSource. */
			readonly token: () => Promise<string>;
	  }
	/** Both as PEM. */
	| { readonly kind: "certificate"; readonly certificate: string; readonly privateKey: string };

interface AgentClientOptions {
	/** HOST:PORT, or unix:PATH for the local end of a tunnel. */
	readonly address: string;
	/** The name that the agent's certificate must have, whatever the address is: see agentServerName. */
	readonly serverName: string;
	/** The fleet's CA as PEM, one certificate or more. */
	readonly ca: string;
	readonly identity: CallerIdentity;
	/** The cluster id that the certificate must name; without one any agent of the CA is taken. */
	readonly member?: string;
	/** Told of every call. */
	readonly observer?: CallObserver | undefined;
	/** Milliseconds since 1970, by which certificates expire. */
	readonly wallClock?: () => number;
}

/** The name in the certificate of every agent whose anchor of trust is this namespace. */
export function agentServerName(agentNamespace: string): string {
	return `${agentName}.${agentNamespace}.svc`;
}

/** A client whose calls fail at once while the agent cannot be reached; must be closed. */
export function createAgentClient(options: AgentClientOptions): AgentServiceClient {
	const longest = options.identity.kind === "certificate" ? longestAnswer.toAgent : longestAnswer.toPlugin;
	return new BoundedAgentClient(options.address, channelCredentials(options), {
		...channelOptions(options.serverName),
		"grpc.max_receive_message_length": longest,
		...(options.observer && { interceptors: [observeCalls(options.observer)] }),
	});
}

/** Whether an agent has answered in TLS and HTTP/2: the channel's connection stands. */
export function isConnected(client: AgentServiceClient): boolean {
	return client.getChannel().getConnectivityState(false) === connectivityState.READY;
}

export interface IssuedToken {
	readonly token: string;
	/** How long it is good for from the moment it was asked for. */
	readonly lifetimeMs: number;
}

/** Used up to this part of its lifetime, the token still has time for a call that takes long, and for clocks that differ. */
const refreshAfter = 0.75;

/**
 * A function that gives the current token and asks for a new one in good time; callers at once share one request. While
 * a new one cannot be had, the old one is used for as long as it is good.
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
	// Of the connection that was made last: a channel to one address has one at a time.
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
	return new Error(`The agent's certificate is for ${describeMember(subjectaltname)}, not for cluster id "${member}"`);
}

function callCredentials(metadataOf: () => Promise<Metadata>): CallCredentials {
	return credentials.createFromMetadataGenerator((_parameters, callback) => {
		metadataOf().then(
			(metadata) => callback(null, metadata),
			(error: unknown) => {
				const message = error instanceof Error ? error.message : String(error);
				// Without a token nobody knows the caller; an error of ours says more exactly what is wrong.
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
		throw new AgentProtocolError("Cannot use the token: it is empty or has characters that no header can carry");
	}
	const metadata = new Metadata();
	metadata.set("authorization", `Bearer ${value}`);
	return metadata;
}

/**
 * Every certificate of a bundle in PEM: a CA that is being changed has two. Throws AgentProtocolError that names `what`
 * where there is none, or one that cannot be read.
 */
export function parseCertificates(pem: string, what: string): readonly X509Certificate[] {
	const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
	const begun = pem.split("-----BEGIN").length - 1;
	try {
		// A block that is not whole is one that TLS would leave out without a word.
		if (blocks.length === 0 || blocks.length !== begun) throw new TypeError("A block is not whole, or there is none");
		return blocks.map((block) => new X509Certificate(block));
	} catch (error) {
		throw new AgentProtocolError(`Cannot read ${what}: it is not a certificate in PEM`, { cause: error });
	}
}

function channelOptions(serverName: string): ChannelOptions {
	return {
		// Both: the TLS layer refuses IP addresses as names, and the HTTP/2 layer asks for the authority it sends.
		"grpc.ssl_target_name_override": serverName,
		"grpc.default_authority": serverName,
		"grpc.enable_http_proxy": 0,
		// Only who runs the round retries.
		"grpc.enable_retries": 0,
		"grpc.service_config_disable_resolution": 1,
		"grpc.use_local_subchannel_pool": 1,
		// An agent that is back is found within two seconds.
		"grpc.initial_reconnect_backoff_ms": 100,
		"grpc.max_reconnect_backoff_ms": 2_000,
		// Who waits in line has no deadline: a dead connection shows after 3 + 5 seconds, within the lease time of 10.
		"grpc.keepalive_time_ms": 3_000,
		"grpc.keepalive_timeout_ms": 5_000,
	};
}

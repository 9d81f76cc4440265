// Channels to agents: TLS 1.3 against the fleet's CA, and the caller's identity, which is a short-lived token (plugin) or
// a certificate of that CA (agents among themselves).
import { X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";
import {
	type CallCredentials,
	type ChannelCredentials,
	type ChannelOptions,
	credentials,
	Metadata,
	status,
} from "@grpc/grpc-js";
import { AgentProtocolError } from "../disruption/errors.ts";
import { AgentServiceClient } from "./gen/xpdb/v1/agent.ts";
import { statusOfError } from "./status.ts";

export type CallerIdentity =
	| {
			readonly kind: "token";
			/** Asked before each call; see createTokenSource. */
			readonly token: () => Promise<string>;
	  }
	/** Both as PEM. */
	| { readonly kind: "certificate"; readonly certificate: string; readonly privateKey: string };

export interface AgentClientOptions {
	/** HOST:PORT, or unix:PATH for the local end of a tunnel. */
	readonly address: string;
	/** The name that the agent's certificate must have, whatever the address is: see agentServerName. */
	readonly serverName: string;
	/** The fleet's CA as PEM, one certificate or more. */
	readonly ca: string;
	readonly identity: CallerIdentity;
}

/** The name in the certificate of every agent whose Leases are in this namespace. */
export function agentServerName(leaseNamespace: string): string {
	return `xpdb-agent.${leaseNamespace}.svc`;
}

/** A client whose calls fail at once while the agent cannot be reached; must be closed. */
export function createAgentClient(options: AgentClientOptions): AgentServiceClient {
	return new AgentServiceClient(options.address, channelCredentials(options), channelOptions(options.serverName));
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

function channelCredentials({ ca, identity }: AgentClientOptions): ChannelCredentials {
	parseCertificate(ca, "the fleet's CA");
	const context = createSecureContext({
		ca,
		minVersion: "TLSv1.3",
		...(identity.kind === "certificate" && { cert: identity.certificate, key: identity.privateKey }),
	});
	const channel = credentials.createFromSecureContext(context);
	return identity.kind === "token"
		? credentials.combineChannelCredentials(channel, bearerCredentials(identity.token))
		: channel;
}

function bearerCredentials(token: () => Promise<string>): CallCredentials {
	return credentials.createFromMetadataGenerator((_parameters, callback) => {
		bearerMetadata(token).then(
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

/** Reads PEM; throws AgentProtocolError that names `what`. */
export function parseCertificate(pem: string, what: string): X509Certificate {
	try {
		return new X509Certificate(pem);
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
		// A count of 1,000 candidates with all labels is about 1 MB, and a list of all budgets may be more.
		"grpc.max_receive_message_length": 16 * 1024 * 1024,
	};
}

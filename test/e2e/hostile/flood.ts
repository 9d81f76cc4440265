// Sends what any pod in the cluster can send to an agent's port: connections, headers, and parts of messages.
import { readFileSync } from "node:fs";
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from "node:http2";
import { agentFile, type Cluster } from "./member-agent.ts";

export interface Flood extends Disposable {
	/** Ignores errors of the connection. `localAddress`: the source address. */
	open(localAddress?: string): ClientHttp2Session;
	/** Sends the headers of a call. Returns undefined if the connection has ended. */
	call(session: ClientHttp2Session, method: string, token: string): ClientHttp2Stream | undefined;
}

export function createFlood(cluster: Cluster, agentIp: string): Flood {
	const ca = readFileSync(agentFile(cluster, "fleet-ca.crt"));
	const sessions: ClientHttp2Session[] = [];
	return {
		open(localAddress) {
			const session = connect(`https://${agentIp}:8443`, {
				ca,
				servername: "xpdb-agent.xpdb-system.svc",
				maxSessionMemory: 1_000,
				...(localAddress !== undefined && { localAddress }),
			});
			// The agent is expected to close connections.
			session.on("error", () => undefined);
			sessions.push(session);
			return session;
		},
		call(session, method, token) {
			if (session.destroyed || session.closed) return undefined;
			const stream = session.request({
				[constants.HTTP2_HEADER_METHOD]: "POST",
				[constants.HTTP2_HEADER_PATH]: `/xpdb.v1.AgentService/${method}`,
				[constants.HTTP2_HEADER_CONTENT_TYPE]: "application/grpc",
				te: "trailers",
				authorization: `Bearer ${token}`,
			});
			stream.on("error", () => undefined);
			stream.resume();
			return stream;
		},
		[Symbol.dispose]: () => {
			for (const session of sessions) session.destroy();
		},
	};
}

/** Returns most of a message of 2 MB, nearly the longest that an agent accepts. */
export function halfAMessage(): Buffer {
	const frame = Buffer.alloc(5 + 1_900_000);
	frame.writeUInt32BE(2_000_000, 1);
	return frame;
}

/** Returns a text in the format of a token for agents, which no API server has signed. */
export function madeUpToken(number: number): string {
	const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");
	return `${encode({ alg: "RS256", kid: "k" })}.${encode({ aud: ["xpdb-agent"], sub: `${number}` })}.${encode({ s: 1 })}`;
}

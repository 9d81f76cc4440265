// One gRPC port of the agent.
import { Server, type ServerCredentials } from "@grpc/grpc-js";
import { AgentServiceService, type AgentServiceServer } from "../proto/gen/xpdb/v1/agent.ts";
import { type Address, formatAddress } from "./config.ts";

export interface AgentServerOptions {
	readonly address: Address;
	readonly credentials: ServerCredentials;
	readonly service: AgentServiceServer;
}

export interface AgentServer {
	readonly port: number;
	/** Ends the connections that stand: calls under way may end until the time is over. New connections are taken. */
	renewConnections(graceMs: number): void;
	/** Takes no new calls, waits for those under way until the time is over, then ends them. */
	close(graceMs: number): Promise<void>;
}

/** Listens; rejects where it cannot. */
export async function startAgentServer({ address, credentials, service }: AgentServerOptions): Promise<AgentServer> {
	const server = new Server({
		// A caller that is gone without a word leaves the line within 5 + 5 seconds: a lease time.
		"grpc.keepalive_time_ms": 5_000,
		"grpc.keepalive_timeout_ms": 5_000,
		// 1,000 grants with names of the greatest length are about 1.2 MB.
		"grpc.max_receive_message_length": 2 * 1024 * 1024,
		"grpc.max_concurrent_streams": 1_000,
	});
	server.addService(AgentServiceService, service);
	const port = await new Promise<number>((resolve, reject) => {
		server.bindAsync(formatAddress(address), credentials, (error, bound) => {
			if (error) reject(new Error(`Cannot listen on ${formatAddress(address)}: ${error.message}`, { cause: error }));
			else resolve(bound);
		});
	});
	return {
		port,
		renewConnections: (graceMs) => server.drain(formatAddress({ host: address.host, port }), graceMs),
		async close(graceMs) {
			const { promise, resolve } = Promise.withResolvers<void>();
			const timer = setTimeout(resolve, graceMs);
			server.tryShutdown(() => resolve());
			await promise;
			clearTimeout(timer);
			server.forceShutdown();
		},
	};
}

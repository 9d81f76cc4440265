// Serves one gRPC port of the agent. The number of connections is limited (Connections), and a message is read only after its caller was
// admitted (HeaderAdmission).
import { createServer, type Socket } from "node:net";
import { type Metadata, Server, type ServerCredentials } from "@grpc/grpc-js";
import { AgentServiceService } from "../../proto/gen/xpdb/v1/agent.ts";
import type { Clock } from "../process/clock.ts";
import type { ListenAddress } from "../process/config.ts";
import { Connections } from "../process/connections.ts";
import { listenOn } from "../process/listen.ts";
import { type AgentServiceOptions, createAgentService } from "./agent-service.ts";
import type { AuditLog } from "./audit-log.ts";
import { CallPipeline } from "./call-pipeline.ts";
import type { CallWatcher } from "./call-watcher.ts";
import type { CallerDeadlines } from "./caller-deadlines.ts";
import type { Gate } from "./gate.ts";
import { createGatheredAnswers } from "./gathered-answers.ts";
import { createHeaderAdmission } from "./header-admission.ts";
import type { OpenCalls } from "./open-calls.ts";
import { ReadingSlots } from "./reading-slots.ts";

interface AgentServerOptions extends Pick<AgentServiceOptions, "held" | "greetings" | "stopping"> {
	readonly address: ListenAddress;
	readonly credentials: ServerCredentials;
	readonly gate: Gate;
	readonly watcher: CallWatcher;
	readonly audit: AuditLog;
	/** Shared by both ports. */
	readonly openCalls: OpenCalls;
	/** Tells callers in time that the API server is silent. If left out, calls wait for their own timeout. */
	readonly deadlines?: CallerDeadlines;
	readonly clock: Pick<Clock, "now" | "after">;
	/** For messages. */
	readonly cluster: string;
}

export interface AgentServer {
	readonly port: number;
	/** Ends the existing connections: calls under way may finish until the grace time is over. New connections are accepted. */
	renewConnections(graceMs: number): void;
	/** Takes no new calls, waits for those under way until the grace time is over, then ends them. */
	close(graceMs: number): Promise<void>;
}

/** The longest timer, about 25 days. When the time given to drain() is over, grpc-js also ends connections that were opened later. */
const neverMs = 2 ** 31 - 1;

/** Rejects if it cannot listen. */
export async function startAgentServer(options: AgentServerOptions): Promise<AgentServer> {
	const { address, credentials, gate, watcher, audit, openCalls, deadlines, clock, cluster } = options;
	const { held, greetings, stopping } = options;
	const after = (ms: number, action: () => void) => clock.after(ms, action);
	const connections = new Connections({ after });
	const reading = new ReadingSlots();
	const admission = createHeaderAdmission({ gate, watcher, audit, connections, reading, deadlines, clock, cluster });
	const findCaller = (metadata: Metadata) => admission.findCaller(metadata);
	const pipeline = new CallPipeline({ gate, watcher, audit, openCalls, deadlines, findCaller });
	const server = new Server({
		// A caller that disappears without a signal leaves the line within 5 + 5 seconds, a lease duration.
		"grpc.keepalive_time_ms": 5_000,
		"grpc.keepalive_timeout_ms": 5_000,
		// 1,000 grants with names of the maximum length are about 1.2 MB.
		"grpc.max_receive_message_length": 2 * 1024 * 1024,
		// A client queues calls beyond this limit, and a renewal would wait behind Acquires. So the limit is higher than the calls that one
		// token may have open.
		"grpc.max_concurrent_streams": 1_000,
		// Channelz would record every connection.
		"grpc.enable_channelz": 0,
		interceptors: [createGatheredAnswers(clock), admission.interceptor],
	});
	server.addService(
		AgentServiceService,
		createAgentService({ pipeline, watcher, openCalls, held, greetings, clock, stopping }),
	);
	const injector = server.createConnectionInjector(credentials);
	const serve = (socket: Socket): void => {
		socket.on("error", () => undefined);
		if (connections.accept(socket)) injector.injectConnection(socket);
		else socket.destroy();
	};
	const listener = await listenOn(address, () => createServer({ noDelay: true }, serve));
	return {
		port: listener.port,
		renewConnections(graceMs) {
			injector.drain(neverMs);
			connections.endAfter(graceMs);
		},
		async close(graceMs) {
			const { promise, resolve } = Promise.withResolvers<void>();
			const timer = setTimeout(resolve, graceMs);
			void listener.close();
			server.tryShutdown(() => resolve());
			await promise;
			clearTimeout(timer);
			server.forceShutdown();
			connections.endAfter(0);
		},
	};
}

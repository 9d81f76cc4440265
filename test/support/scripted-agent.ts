// A real gRPC server on loopback whose answers the test provides.
import { Server, ServerCredentials, type UntypedHandleCall } from "@grpc/grpc-js";
import { type AgentServiceServer, AgentServiceService } from "../../proto/gen/xpdb/v1/agent.ts";

export interface ScriptedAgent extends AsyncDisposable {
	/** As HOST:PORT. */
	readonly address: string;
}

/** A call without a handler fails with UNIMPLEMENTED, as with an older agent. */
export async function startScriptedAgent(
	handlers: Partial<AgentServiceServer>,
	credentials: ServerCredentials = ServerCredentials.createInsecure(),
): Promise<ScriptedAgent> {
	const server = new Server();
	const implementation: Record<string, UntypedHandleCall> = {};
	for (const [name, handler] of Object.entries(handlers)) if (handler) implementation[name] = handler;
	server.addService(AgentServiceService, implementation);
	const port = await new Promise<number>((resolve, reject) => {
		server.bindAsync("127.0.0.1:0", credentials, (error, bound) => (error ? reject(error) : resolve(bound)));
	});
	return {
		address: `127.0.0.1:${port}`,
		[Symbol.asyncDispose]: async () => server.forceShutdown(),
	};
}

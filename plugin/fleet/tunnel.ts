// The local end of the way to an agent: a Unix socket that only this user can open. Each connection to it becomes one
// to whatever agent can be reached at that moment, so that a channel which reconnects finds another agent by itself.
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Tunnel {
	/** For a gRPC client. */
	readonly address: string;
	/** Ends all connections; the next ones are made anew. */
	disconnect(): void;
	close(): void;
}

/** Those of all open tunnels, for a process that leaves without closing: a second Ctrl-C. */
const folders = new Set<string>();

function removeAll(): void {
	for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}

/** `connect` joins a local connection with its far side; where it rejects, the local connection is closed. Must be closed. */
export async function createTunnel(connect: (socket: Socket) => Promise<void>): Promise<Tunnel> {
	// Made with mode 0700, and in the moment in which it is known as one to be removed: the process may leave at any time.
	const folder = mkdtempSync(join(tmpdir(), "kubectl-xpdb-"));
	const path = join(folder, "agent.sock");
	if (folders.size === 0) process.on("exit", removeAll);
	folders.add(folder);
	const sockets = new Set<Socket>();
	const server = createServer({ pauseOnConnect: true }, (socket) => {
		sockets.add(socket);
		socket.once("close", () => sockets.delete(socket));
		// Reset by either side: the call that used it fails, and says so.
		socket.on("error", () => socket.destroy());
		connect(socket).then(
			() => socket.resume(),
			() => socket.destroy(),
		);
	});
	await listen(server, path);
	const disconnect = (): void => {
		for (const socket of sockets) socket.destroy();
	};
	return {
		address: `unix:${path}`,
		disconnect,
		close() {
			server.close();
			disconnect();
			folders.delete(folder);
			if (folders.size === 0) process.off("exit", removeAll);
			rmSync(folder, { recursive: true, force: true });
		},
	};
}

async function listen(server: Server, path: string): Promise<void> {
	return new Promise((resolve, reject) => {
		server.once("error", reject);
		server.listen(path, resolve);
	});
}

// Provides the local end of the connection to an agent. Each local connection is forwarded to an agent that is reachable then, so a gRPC
// channel that reconnects can reach another agent.
//
// The local end is a Unix socket in a folder that only this user can enter. On Windows it is a named pipe with a random name and libuv's
// default rights. This user, administrators and the system have full access. Other users of the machine may open the pipe for reading, also
// remotely.
//
// A user who opens the pipe reads nothing and only causes one connection to an agent. TLS runs through the pipe from us to the agent, and
// we check the agent's certificate before we send our token. No other process can take the name before us, because libuv requests the first
// instance of the pipe. This has not been tried on Windows yet.
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Tunnel {
	readonly address: string;
	/** Ends all connections. Later ones are connected anew. */
	disconnect(): void;
	close(): void;
}

/** The folders of all open tunnels, for a process that exits without closing them, such as after a second Ctrl-C. */
const folders = new Set<string>();

function removeAll(): void {
	for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}

export interface LocalEnd {
	readonly path: string;
	remove(): void;
}

function socketInFolder(): LocalEnd {
	// mkdtemp creates it with mode 0700. It is registered for removal right away, because the process may exit at any time.
	const folder = mkdtempSync(join(tmpdir(), "kubectl-xpdb-"));
	if (folders.size === 0) process.on("exit", removeAll);
	folders.add(folder);
	return {
		path: join(folder, "agent.sock"),
		remove() {
			folders.delete(folder);
			if (folders.size === 0) process.off("exit", removeAll);
			rmSync(folder, { recursive: true, force: true });
		},
	};
}

/** A named pipe is not a file, and it ends with its server. */
export function namedPipe(): LocalEnd {
	return { path: `\\\\.\\pipe\\kubectl-xpdb-${randomBytes(16).toString("hex")}`, remove: () => undefined };
}

const newLocalEnd = process.platform === "win32" ? namedPipe : socketInFolder;

/** `connect` joins a local connection to its remote side. If it rejects, the local connection is closed. The tunnel must be closed. */
export async function createTunnel(
	connect: (socket: Socket) => Promise<void>,
	newEnd: () => LocalEnd = newLocalEnd,
): Promise<Tunnel> {
	const end = newEnd();
	const sockets = new Set<Socket>();
	const server = createServer({ pauseOnConnect: true }, (socket) => {
		sockets.add(socket);
		socket.once("close", () => sockets.delete(socket));
		// One side reset the connection. The call that used it fails and reports it.
		socket.on("error", () => socket.destroy());
		connect(socket).then(
			() => socket.resume(),
			() => socket.destroy(),
		);
	});
	await listen(server, end.path);
	const disconnect = (): void => {
		for (const socket of sockets) socket.destroy();
	};
	return {
		address: `unix:${end.path}`,
		disconnect,
		close() {
			server.close();
			disconnect();
			end.remove();
		},
	};
}

async function listen(server: Server, path: string): Promise<void> {
	return new Promise((resolve, reject) => {
		server.once("error", reject);
		server.listen(path, resolve);
	});
}

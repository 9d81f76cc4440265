// The local end of the way to an agent. Each connection to it becomes one to whatever agent can be reached at that moment, so that a channel
// which reconnects finds another agent by itself.
//
// It is a Unix socket in a folder that only this user can enter, and on Windows a named pipe with a random name. libuv makes pipes with the
// system's own rights: this user, administrators and the system may do everything with it, any other user may open it to read, from another
// machine too where that one may log in here. Nobody can have the name before us (libuv asks for the first instance of it), and no other user
// can answer in our place. Whoever opens it reads nothing and costs a connection to an agent: TLS goes through it from us to the agent, whose
// certificate we check before our token is sent, and a reader says nothing that a server answers. Not tried on Windows yet.
import { randomBytes } from "node:crypto";
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

/** What a tunnel listens on. */
export interface LocalEnd {
	readonly path: string;
	/** Afterwards nothing of it is left. */
	remove(): void;
}

function socketInFolder(): LocalEnd {
	// Made with mode 0700, and in the moment in which it is known as one to be removed: the process may leave at any time.
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

/** It is no file, and ends with its server. */
export function namedPipe(): LocalEnd {
	return { path: `\\\\.\\pipe\\kubectl-xpdb-${randomBytes(16).toString("hex")}`, remove: () => undefined };
}

const newLocalEnd = process.platform === "win32" ? namedPipe : socketInFolder;

/** `connect` joins a local connection with its far side; where it rejects, the local connection is closed. Must be closed. */
export async function createTunnel(
	connect: (socket: Socket) => Promise<void>,
	newEnd: () => LocalEnd = newLocalEnd,
): Promise<Tunnel> {
	const end = newEnd();
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

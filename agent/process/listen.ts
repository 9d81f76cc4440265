// Opens one port of the agent on each of its addresses.
import type { Server } from "node:net";
import { formatAddress, type ListenAddress } from "./config.ts";

export interface Listener {
	readonly port: number;
	/** Accepts no more connections. Resolves when the existing ones have ended. */
	close(): Promise<void>;
}

/**
 * Listens on all hosts. If the port is 0, they all get the free port of the first one. `create` makes one server for each host. Rejects if
 * one of them cannot listen, and then none does.
 */
export async function listenOn({ hosts, port }: ListenAddress, create: () => Server): Promise<Listener> {
	const servers: Server[] = [];
	let chosen = port;
	try {
		for (const host of hosts) {
			const server = create();
			await listen(server, { host, port: chosen });
			servers.push(server);
			const bound = server.address();
			if (typeof bound === "object" && bound !== null) chosen = bound.port;
		}
	} catch (error) {
		for (const server of servers) server.close();
		throw error;
	}
	return {
		port: chosen,
		async close() {
			await Promise.all(servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve()))));
		},
	};
}

function listen(server: Server, address: Parameters<typeof formatAddress>[0]): Promise<void> {
	return new Promise((resolve, reject) => {
		server.once("error", (error) => {
			reject(new Error(`cannot listen on ${formatAddress(address)}: ${error.message}`, { cause: error }));
		});
		server.listen(address.port, address.host, resolve);
	});
}

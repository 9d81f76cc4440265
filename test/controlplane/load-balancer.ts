import { connect, createServer } from "node:net";
import type { Server, Socket } from "node:net";
import { listen } from "./octet.ts";

export type LoadBalancer = { close(): Promise<void> };

/**
 * Stands in for the Service of the agents: what comes to one of these ports of the cluster's address goes to the same port of a
 * ready pod, in turn. Like a Service it leaves open connections alone when their pod turns unready.
 */
export async function startLoadBalancer(options: {
	readonly address: string;
	readonly ports: readonly number[];
	readonly targets: () => readonly string[];
}): Promise<LoadBalancer> {
	const sockets = new Set<Socket>();
	let turn = 0;
	const servers: Server[] = [];
	const join = (socket: Socket) => {
		sockets.add(socket);
		socket.setNoDelay(true);
		socket.once("close", () => sockets.delete(socket));
	};
	for (const port of options.ports) {
		const server = createServer((client) => {
			const targets = options.targets();
			const target = targets[turn++ % Math.max(1, targets.length)];
			join(client);
			if (target === undefined) {
				client.resetAndDestroy();
				return;
			}
			const upstream = connect({ host: target, port });
			join(upstream);
			// A broken half ends the other at once: the caller must see the death of its agent, not a silence.
			client.on("error", () => upstream.destroy());
			client.on("close", () => upstream.destroy());
			upstream.on("error", () => client.resetAndDestroy());
			upstream.on("close", () => client.destroy());
			client.pipe(upstream);
			upstream.pipe(client);
		});
		await listen(server, { host: options.address, port });
		servers.push(server);
	}
	return {
		async close() {
			for (const socket of sockets) {
				socket.destroy();
			}
			await Promise.all(
				servers.map(
					(server) =>
						new Promise<void>((resolve) => {
							server.close(() => resolve());
						}),
				),
			);
		},
	};
}

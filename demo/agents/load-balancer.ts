import type { AddressInfo, Server, Socket } from "node:net";
import { connect, createServer } from "node:net";
import { type Endpoint, listen } from "../machine/endpoint.ts";

export type LoadBalancer = {
	/** In the order of the listeners. */
	readonly ports: readonly number[];
	close(): Promise<void>;
};

/** As with a Service, open connections survive when their pod becomes unready. */
export async function startLoadBalancer(options: {
	readonly address: string;
	/** Port 0 means any free port. */
	readonly listeners: readonly { readonly port: number; readonly targets: () => readonly Endpoint[] }[];
}): Promise<LoadBalancer> {
	const sockets = new Set<Socket>();
	let turn = 0;
	const servers: Server[] = [];
	const join = (socket: Socket) => {
		sockets.add(socket);
		socket.setNoDelay(true);
		socket.once("close", () => sockets.delete(socket));
	};
	for (const { port, targets: ready } of options.listeners) {
		const server = createServer((client) => {
			const targets = ready();
			const target = targets[turn++ % Math.max(1, targets.length)];
			join(client);
			if (target === undefined) {
				client.resetAndDestroy();
				return;
			}
			const upstream = connect(target);
			join(upstream);
			// Closes both halves together, so that the caller notices when its agent dies.
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
		ports: servers.map((server) => (server.address() as AddressInfo).port),
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

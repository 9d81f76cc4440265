import { isIPv6, type Server } from "node:net";

export type Endpoint = { readonly host: string; readonly port: number };

/** Returns HOST:PORT as URLs and gRPC write it. */
export function hostPort({ host, port }: Endpoint): string {
	return isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
}

/** Resolves when the server listens. Port 0 means any free port. */
export function listen(server: Server, { host, port }: Endpoint): Promise<void> {
	return new Promise((resolve, reject) => {
		server.once("error", reject);
		server.listen(port, host, () => {
			server.off("error", reject);
			resolve();
		});
	});
}

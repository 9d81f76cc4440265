import type { Server } from "node:net";

export type Endpoint = { readonly host: string; readonly port: number };

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

import type { Server } from "node:net";

/** Where something listens. */
export type Endpoint = { readonly host: string; readonly port: number };

/** Resolves when `server` listens there; port 0 for any. */
export function listen(server: Server, { host, port }: Endpoint): Promise<void> {
	return new Promise((resolve, reject) => {
		server.once("error", reject);
		server.listen(port, host, () => {
			server.off("error", reject);
			resolve();
		});
	});
}

// Serves the archives of a release on loopback, because krew downloads them over HTTP.
import { createReadStream } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { basename, join } from "node:path";

export interface ArchiveServer {
	/** The folder's URL, without a trailing slash. */
	readonly url: string;
	close(): void;
}

export async function serveArchives(folder: string): Promise<ArchiveServer> {
	const server = createServer(({ url = "" }, response) => {
		const file = createReadStream(join(folder, basename(url)));
		file.once("error", () => response.writeHead(404).end());
		file.once("open", () => file.pipe(response));
	});
	await new Promise<void>((resolve, reject) => {
		server.once("error", reject);
		server.listen(0, "127.0.0.1", resolve);
	});
	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		close() {
			server.close();
			server.closeAllConnections();
		},
	};
}

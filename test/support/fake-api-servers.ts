// Starts API servers on loopback whose answers a test provides as objects.
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A number is the code of a failure. 0: no answer comes. */
export type FakeAnswer = object | number;

export interface FakeApiServers extends AsyncDisposable {
	/** Has a context of the same name for each server. */
	readonly kubeconfig: string;
	/** For the cache of the plugin. */
	readonly home: string;
}

export async function startFakeApiServers(
	names: readonly string[],
	answer: (name: string, request: IncomingMessage) => FakeAnswer,
): Promise<FakeApiServers> {
	await using opened = new AsyncDisposableStack();
	const home = opened.adopt(mkdtempSync(join(tmpdir(), "xpdb-servers-")), (folder) =>
		rmSync(folder, { recursive: true }),
	);
	const serve = async (name: string): Promise<object> => {
		const server = createServer((request: IncomingMessage, response: ServerResponse) => {
			request.resume().on("end", () => {
				const body = answer(name, request);
				if (body === 0) return;
				const code = typeof body === "number" ? body : 200;
				response.writeHead(code, { "content-type": "application/json" });
				response.end(JSON.stringify(typeof body === "number" ? { kind: "Status", code, message: "failed" } : body));
			});
		}).listen(0, "127.0.0.1");
		await once(server, "listening");
		opened.defer(() => {
			server.closeAllConnections();
			server.close();
		});
		return { name, cluster: { server: `http://127.0.0.1:${(server.address() as AddressInfo).port}` } };
	};
	const kubeconfig = join(home, "config");
	const config = {
		clusters: await Promise.all(names.map(serve)),
		users: [{ name: "u", user: {} }],
		contexts: names.map((name) => ({ name, context: { cluster: name, user: "u" } })),
	};
	writeFileSync(kubeconfig, JSON.stringify(config));
	const kept = opened.move();
	return { kubeconfig, home, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

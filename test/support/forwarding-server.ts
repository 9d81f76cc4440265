// The part of an API server that forwards ports, as the plugin's client sees it.
import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";
import type { KubernetesClient } from "../../plugin/kubernetes/kubernetes-client.ts";
import { clientOfServer } from "./client-of-server.ts";

export interface ForwardingServer extends Disposable {
	readonly client: KubernetesClient;
	readonly paths: string[];
	/** Status and body of the answer to upgrades, in place of the upgrade. */
	refusal: { readonly code: number; readonly body: string } | undefined;
	/** Text that is sent on the error channel, in place of data. */
	podError: string | undefined;
	/** Names of pods that accept a connection and never answer. */
	readonly silent: Set<string>;
	/** Names of pods that die with their nodes after their first answer. */
	readonly dying: Set<string>;
	/** Names of pods for which the API server does not even answer the upgrade. */
	readonly unreached: Set<string>;
	readonly sockets: ReadonlySet<WebSocket>;
	/** The number of bytes that were sent to the pods. */
	readonly said: number;
}

/** Starts an API server that forwards over v4.channel.k8s.io to the real TCP server on this port. */
export async function startForwardingServer(target: number): Promise<ForwardingServer> {
	const http = createServer();
	const upgrader = new WebSocketServer({ noServer: true, handleProtocols: () => "v4.channel.k8s.io" });
	const api = {
		paths: new Array<string>(),
		refusal: undefined as ForwardingServer["refusal"],
		podError: undefined as string | undefined,
		silent: new Set<string>(),
		dying: new Set<string>(),
		unreached: new Set<string>(),
		sockets: new Set<WebSocket>(),
		said: 0,
	};
	http.on("upgrade", (request, socket: Socket, head) => {
		api.paths.push(request.url ?? "");
		const [, pod = ""] = /pods\/([^/]+)/.exec(request.url ?? "") ?? [];
		if (api.unreached.has(pod)) return;
		if (api.refusal) {
			const { code, body } = api.refusal;
			socket.end(`HTTP/1.1 ${code} No\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`);
			return;
		}
		upgrader.handleUpgrade(request, socket, head, (ws) => {
			api.sockets.add(ws);
			// Both channels begin with the port's number, before any data.
			ws.send(Buffer.from([0, 0, 0]));
			ws.send(Buffer.from([1, 0, 0]));
			if (api.podError !== undefined) {
				ws.send(Buffer.concat([Buffer.of(1), Buffer.from(api.podError)]));
				return;
			}
			if (api.silent.has(pod)) return;
			const process = connect(target, "127.0.0.1");
			let words = 0;
			process.on("data", (chunk) => {
				words += 1;
				if (words === 1 || !api.dying.has(pod)) ws.send(Buffer.concat([Buffer.of(0), chunk]));
			});
			process.on("error", () => ws.close());
			process.on("close", () => ws.close());
			ws.on("message", (message: Buffer) => {
				api.said += message.length - 1;
				process.write(message.subarray(1));
			});
			ws.on("close", () => process.destroy());
		});
	});
	http.listen(0, "127.0.0.1");
	await once(http, "listening");
	const client = clientOfServer((http.address() as AddressInfo).port);
	return Object.assign(api, {
		client,
		[Symbol.dispose]() {
			client.close();
			http.close();
			http.closeAllConnections();
			for (const socket of api.sockets) socket.terminate();
		},
	});
}

// The port-forwarding part of an API server, for the plugin's client.
import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";
import type { KubernetesClient } from "../../plugin/kubernetes/kubernetes-client.ts";
import { clientOfServer } from "./client-of-server.ts";

export interface ForwardingServer extends Disposable {
	readonly client: KubernetesClient;
	readonly paths: string[];
	/** If set, every upgrade is refused with this status and body. */
	refusal: { readonly code: number; readonly body: string } | undefined;
	/** If set, it is sent on the error channel, and no data follows. */
	podError: string | undefined;
	/** Pods that accept a connection but never answer. */
	readonly silent: Set<string>;
	/** Pods that go silent after their first answer, as when their node dies. */
	readonly dying: Set<string>;
	/** Pods for which the API server does not answer the upgrade. */
	readonly unreached: Set<string>;
	readonly sockets: ReadonlySet<WebSocket>;
	readonly said: number;
}

/** Starts an API server that forwards every port over v4.channel.k8s.io to this TCP port. */
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
			// Each channel begins with a port number.
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

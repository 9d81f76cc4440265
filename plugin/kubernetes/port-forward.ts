// Connects to a port of a pod through the API server (pods/portforward over WebSocket, v4.channel.k8s.io). client-node's PortForward
// buffers without limit, and its unhandled EPIPE can end the process.
import type { Socket } from "node:net";
import type { WebSocket } from "ws";
import { ConnectionError, readApiError } from "./api-error.ts";
import type { KubernetesClient } from "./kubernetes-client.ts";
import { podPath } from "./pod-path.ts";

export interface PodPort {
	readonly namespace: string;
	readonly name: string;
	readonly port: number;
}

const dataChannel = 0;
const errorChannel = 1;
/**
 * How many frames are read before `join`. Few are expected: each channel first sends the port number, and a TLS server waits for the
 * client.
 */
const mostEarlyFrames = 16;
/** Reading from the local side pauses while this much waits to be sent. */
const highWaterBytes = 1024 * 1024;

export interface PodConnection {
	readonly isOver: boolean;
	/**
	 * Connects to a local socket until either side ends. Call it once. Resolves with the other side's message or the connection's error, if
	 * any.
	 */
	join(socket: Socket): Promise<string | undefined>;
	close(): void;
}

/** The caller must join or close the connection. Rejects with ApiError or ConnectionError if the API server does not open it. */
export async function dialPod(client: KubernetesClient, pod: PodPort): Promise<PodConnection> {
	const ws = await client.webSocket(`${podPath(pod)}/portforward?ports=${pod.port}`, "v4.channel.k8s.io");
	ws.binaryType = "nodebuffer";
	let problem: string | undefined;
	ws.on("error", (error) => {
		problem ??= error.message;
	});
	// Read at once: the first frames may arrive with the handshake, and without reading, the end of the connection would go unnoticed.
	const early: Buffer[] = [];
	const keep = (message: Buffer): void => {
		early.push(message);
		if (early.length >= mostEarlyFrames) ws.pause();
	};
	ws.on("message", keep);
	await opened(ws, client.server);
	return {
		get isOver() {
			return ws.readyState !== ws.OPEN;
		},
		async join(socket) {
			ws.off("message", keep);
			return (await join(ws, socket, early)) ?? problem;
		},
		close: () => ws.terminate(),
	};
}

export function hangUp(connection: Promise<PodConnection>): void {
	connection.then(
		(open) => open.close(),
		() => undefined,
	);
}

function opened(ws: WebSocket, server: string): Promise<void> {
	return new Promise((resolve, reject) => {
		ws.once("open", resolve);
		ws.once("error", (error) => reject(new ConnectionError(server, error)));
		ws.once("unexpected-response", (request, response) => {
			let body = "";
			response.setEncoding("utf8");
			response.on("data", (chunk: string) => {
				body += chunk;
			});
			response.on("error", (error) => reject(new ConnectionError(server, error)));
			response.on("end", () => {
				reject(readApiError(response.statusCode ?? 0, body, response.headers["retry-after"]));
				request.destroy();
			});
		});
	});
}

/** `early`: messages that arrived before the call. */
function join(ws: WebSocket, socket: Socket, early: readonly Buffer[]): Promise<string | undefined> {
	return new Promise((resolve) => {
		const announced = new Set<number>();
		let problem: string | undefined;
		const finish = (): void => {
			if (ws.readyState === ws.OPEN) ws.terminate();
			socket.destroy();
			resolve(problem);
		};
		socket.on("data", (chunk: Buffer) => {
			ws.send(Buffer.concat([Buffer.of(dataChannel), chunk]), () => {
				if (ws.bufferedAmount < highWaterBytes) socket.resume();
			});
			if (ws.bufferedAmount >= highWaterBytes) socket.pause();
		});
		socket.on("error", finish);
		socket.on("close", finish);
		const onMessage = (message: Buffer): void => {
			const channel = message[0] ?? 0;
			// The first frame of each channel repeats the port's number.
			if (!announced.has(channel)) {
				announced.add(channel);
				return;
			}
			const content = message.subarray(1);
			if (channel === errorChannel) {
				problem = content.toString("utf8");
				finish();
			} else if (!socket.destroyed && !socket.write(content)) {
				ws.pause();
				socket.once("drain", () => ws.resume());
			}
		};
		ws.on("message", onMessage);
		ws.on("error", finish);
		ws.on("close", finish);
		early.forEach(onMessage);
		if (socket.destroyed || ws.readyState !== ws.OPEN) finish();
		else if (early.length >= mostEarlyFrames) ws.resume();
	});
}

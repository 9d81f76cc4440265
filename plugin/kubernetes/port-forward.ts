// One connection to a port of a pod, through the API server: pods/portforward over WebSocket (v4.channel.k8s.io). Instead of client-node's
// PortForward: that buffers without end what is not read, says of a refusal the code alone, and a write after the far side's end is an
// unhandled EPIPE that ends the process.
import type { Socket } from "node:net";
import type { WebSocket } from "ws";
import { ConnectionError, readApiError } from "./api-error.ts";
import type { KubernetesClient } from "./kubernetes-client.ts";

export interface PodPort {
	readonly namespace: string;
	readonly name: string;
	readonly port: number;
}

const dataChannel = 0;
const errorChannel = 1;
/** Above this much on its way to the server, the local side is not read. */
const highWaterBytes = 1024 * 1024;

export interface PortForward {
	/** Resolves when the connection is over, with what the far side said about it, if anything. */
	readonly ended: Promise<string | undefined>;
}

/**
 * Joins `socket` with the pod's port until either ends. Rejects with ApiError or ConnectionError where the API server
 * does not open it; then `socket` is untouched and may be joined with another pod.
 */
export async function forwardToPod(client: KubernetesClient, pod: PodPort, socket: Socket): Promise<PortForward> {
	const ws = await client.webSocket(
		`/api/v1/namespaces/${encodeURIComponent(pod.namespace)}/pods/${encodeURIComponent(pod.name)}/portforward?ports=${pod.port}`,
		"v4.channel.k8s.io",
	);
	ws.binaryType = "nodebuffer";
	// Listening begins before the connection is open: the first frames may come together with it.
	const ended = join(ws, socket);
	await opened(ws, client.server);
	return { ended };
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

function join(ws: WebSocket, socket: Socket): Promise<string | undefined> {
	return new Promise((resolve) => {
		const announced = new Set<number>();
		let problem: string | undefined;
		let isOpen = false;
		const finish = (): void => {
			if (ws.readyState === ws.OPEN || ws.readyState === ws.CONNECTING) ws.terminate();
			// A connection that never opened leaves the socket to the next pod.
			if (isOpen) socket.destroy();
			resolve(problem);
		};
		const onData = (chunk: Buffer): void => {
			ws.send(Buffer.concat([Buffer.of(dataChannel), chunk]), () => {
				if (ws.bufferedAmount < highWaterBytes) socket.resume();
			});
			if (ws.bufferedAmount >= highWaterBytes) socket.pause();
		};
		ws.on("open", () => {
			isOpen = true;
			socket.on("data", onData);
			socket.on("error", finish);
			socket.on("close", finish);
			if (socket.destroyed) finish();
		});
		ws.on("message", (message: Buffer) => {
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
		});
		ws.on("error", (error) => {
			problem ??= error.message;
			finish();
		});
		ws.on("close", finish);
	});
}

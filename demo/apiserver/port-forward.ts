// Serves pods/portforward over WebSocket (v4.channel.k8s.io), with one channel for data and one for errors. Each begins with the port
// number.
import { connect } from "node:net";
import type { WebSocket } from "ws";
import type { Endpoint } from "../machine/endpoint.ts";

/** Connects the WebSocket with the port of a pod until either ends. `target` is undefined if nothing listens. */
export function forwardPort(ws: WebSocket, port: number, target: Endpoint | undefined): void {
	const announcement = Buffer.alloc(2);
	announcement.writeUInt16LE(port);
	const data = 0;
	const failure = 1;
	const send = (channel: number, content: Buffer): void => ws.send(Buffer.concat([Buffer.of(channel), content]));
	send(data, announcement);
	send(failure, announcement);
	const fail = (why: string): void => {
		send(failure, Buffer.from(`error forwarding port ${port} to pod: ${why}`));
		ws.close();
	};
	if (!target) {
		fail("nothing listens there");
		return;
	}
	const socket = connect(target);
	socket.setNoDelay(true);
	socket.on("data", (chunk: Buffer) => send(data, chunk));
	socket.on("error", (error) => fail(error.message));
	socket.on("close", () => ws.close());
	ws.on("message", (message: Buffer) => {
		if (message[0] === data) socket.write(message.subarray(1));
	});
	ws.on("close", () => socket.destroy());
	ws.on("error", () => socket.destroy());
}

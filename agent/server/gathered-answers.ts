// Sends headers with the first message, and the status with the message of a unary call. Each separate part would be a packet. A packet in
// a plugin's tunnel costs the API server, the kubelet and the plugin more than its content.
//
// Guarantee: headers leave within 250 ms after the handler sends them, so the caller knows that its call is being served. Callers wait 2 s
// or longer for headers.
import {
	type Metadata,
	ServerInterceptingCall,
	type ServerInterceptingCallInterface,
	type ServerInterceptor,
} from "@grpc/grpc-js";
import type { Clock } from "../process/clock.ts";

/** Most answers are ready by then. */
export const headersWithinMs = 250;

export function createGatheredAnswers(clock: Pick<Clock, "after">): ServerInterceptor {
	return (method, call) => {
		let sendHeaders = (): void => undefined;
		return new ServerInterceptingCall(method.responseStream ? call : withStatusAtOnce(call), {
			sendMetadata(metadata: Metadata, next) {
				const stopTimer = clock.after(headersWithinMs, () => sendHeaders());
				sendHeaders = () => {
					sendHeaders = () => undefined;
					stopTimer();
					next(metadata);
				};
			},
			sendMessage(message, next) {
				sendHeaders();
				next(message);
			},
			sendStatus(status, next) {
				sendHeaders();
				next(status);
			},
		});
	};
}

/**
 * Returns a call that sends its status without waiting until the message is written. If the message cannot be written, grpc-js has already
 * sent an error status.
 */
function withStatusAtOnce(call: ServerInterceptingCallInterface): ServerInterceptingCallInterface {
	return {
		start: (listener) => call.start(listener),
		sendMetadata: (metadata) => call.sendMetadata(metadata),
		sendMessage(message, written) {
			call.sendMessage(message, () => undefined);
			written();
		},
		sendStatus: (status) => call.sendStatus(status),
		startRead: () => call.startRead(),
		getPeer: () => call.getPeer(),
		getDeadline: () => call.getDeadline(),
		getHost: () => call.getHost(),
		getAuthContext: () => call.getAuthContext(),
		getConnectionInfo: () => call.getConnectionInfo(),
		getMetricsRecorder: () => call.getMetricsRecorder(),
	};
}

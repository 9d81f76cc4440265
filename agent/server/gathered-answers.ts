// Sends the parts of an answer together: headers with the first message, and the status with the message of a call that has only one. Each
// separate part would be a packet, and another one in a plugin's tunnel. That costs the API server, the kubelet and the plugin more than
// its content.
//
// Guarantee: headers are sent within a quarter of a second, so a caller knows that its call is being served. Callers wait 2 s or longer for
// them.
import {
	type Metadata,
	ServerInterceptingCall,
	type ServerInterceptingCallInterface,
	type ServerInterceptor,
} from "@grpc/grpc-js";
import type { Clock } from "../process/clock.ts";

/** Most answers are ready by then, and a quarter of a second is not a long silence. */
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

/** Does not wait until the message was written; if it cannot be written, the status already says so. */
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

// What a call is answered with goes out together: headers with the first message, and the status of a call that has one message
// with it. Each piece by itself would be a packet, and another one in the tunnel of a plugin, which costs its API server, its
// kubelet and itself more than what is in it.
//
// Guarantee: a caller is told within a quarter of a second that somebody is at it; it waits 2 s and more for that.
import {
	type Metadata,
	ServerInterceptingCall,
	type ServerInterceptingCallInterface,
	type ServerInterceptor,
} from "@grpc/grpc-js";
import type { Clock } from "../process/clock.ts";

/** Most answers are there by then; a quarter of a second is no long silence. */
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

/** Does not wait until the message was written; where it cannot be, the status says so already. */
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

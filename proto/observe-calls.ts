// Shows an observer all calls of a client, with messages before they are encoded or after they are decoded.
import { InterceptingCall, type Interceptor, type Metadata, status } from "@grpc/grpc-js";

export interface CallObserver {
	/** Called when a call begins. `path` is "/package.Service/Method". */
	begin(path: string): ObservedCall;
}

export interface ObservedCall {
	/** The headers, without those that credentials add. */
	headers(headers: Readonly<Record<string, unknown>>): void;
	sent(message: unknown): void;
	received(message: unknown): void;
	/** `code` is the name of the status code. `details` is the other side's explanation. */
	ended(code: string, details: string): void;
}

export function observeCalls(observer: CallObserver): Interceptor {
	return (options, nextCall) => {
		const observed = observer.begin(options.method_definition.path);
		return new InterceptingCall(nextCall(options), {
			start(metadata: Metadata, _, next) {
				observed.headers(metadata.getMap());
				next(metadata, {
					onReceiveMessage(message: unknown, deliver: (message: unknown) => void) {
						observed.received(message);
						deliver(message);
					},
					onReceiveStatus(ended, deliver) {
						observed.ended(status[ended.code] ?? String(ended.code), ended.details);
						deliver(ended);
					},
				});
			},
			sendMessage(message: unknown, next: (message: unknown) => void) {
				observed.sent(message);
				next(message);
			},
		});
	};
}

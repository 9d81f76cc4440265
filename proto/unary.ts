// One unary call as a promise: with a deadline, able to be cancelled from outside, its error turned into one of ours.
import type { CallOptions, ClientUnaryCall, Metadata, ServiceError } from "@grpc/grpc-js";
import { errorOfStatus } from "./status.ts";

export interface OpenCall {
	cancel(): void;
}

/** A method of the generated client with its request filled in. */
export type UnaryCall<Response> = (
	metadata: Metadata,
	options: Partial<CallOptions>,
	callback: (error: ServiceError | null, response: Response) => void,
) => ClientUnaryCall;

export interface UnaryOptions {
	readonly name: string;
	/** For people: whose answer it is. */
	readonly cluster: string;
	readonly metadata: Metadata;
	readonly deadlineMs: number;
	/** Holds the call while it is open. */
	readonly open: Set<OpenCall>;
}

/** Rejects with the error that the status means; where it does, the request may have been carried out all the same. */
export async function callUnary<Response>(
	call: UnaryCall<Response>,
	{ name, cluster, metadata, deadlineMs, open }: UnaryOptions,
): Promise<Response> {
	return new Promise((resolve, reject) => {
		const deadline = Date.now() + deadlineMs;
		const started = call(metadata, { deadline }, (error, response) => {
			open.delete(started);
			if (error) reject(errorOfStatus(error, { cluster, call: name }));
			else resolve(response);
		});
		open.add(started);
	});
}

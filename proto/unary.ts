// Makes a unary call that has a deadline and can be cancelled from outside. Its error becomes a domain error.
import { type CallOptions, type ClientUnaryCall, Metadata, type ServiceError, status } from "@grpc/grpc-js";
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

interface UnaryOptions {
	readonly name: string;
	/** The cluster that answers, for people. */
	readonly cluster: string;
	/** The cluster whose agent makes the call. */
	readonly askedBy?: string | undefined;
	readonly metadata: Metadata;
	readonly deadlineMs: number;
	/** How much longer the answer may take, once the agent's headers show that it is working on it. */
	readonly workMs?: number;
	/** Contains the call while it is open. */
	readonly open: Set<OpenCall>;
}

/** Rejects with the error that the status means. Even then, the agent may have carried out the request. */
export async function callUnary<Response>(
	call: UnaryCall<Response>,
	{ name, cluster, askedBy, metadata, deadlineMs, workMs = 0, open }: UnaryOptions,
): Promise<Response> {
	return new Promise((resolve, reject) => {
		const deadline = Date.now() + deadlineMs + workMs;
		const started = call(metadata, { deadline }, (error, response) => {
			open.delete(started);
			heard();
			if (error) reject(errorOfStatus(error, { cluster, call: name, askedBy }));
			else resolve(response);
		});
		open.add(started);
		const heard = limitSilence(started, workMs > 0 ? deadlineMs : undefined, () => {
			reject(errorOfStatus(silent(deadlineMs), { cluster, call: name, askedBy }));
		});
	});
}

interface SilentCall extends OpenCall {
	once(event: "metadata", listener: () => void): unknown;
}

/** Cancels a call if its agent has sent nothing after `ms`, not even headers. The returned function removes this limit. */
export function limitSilence(call: SilentCall, ms: number | undefined, onSilent: () => void): () => void {
	if (ms === undefined) return () => undefined;
	const timer = setTimeout(() => {
		onSilent();
		call.cancel();
	}, ms);
	const heard = (): void => clearTimeout(timer);
	call.once("metadata", heard);
	return heard;
}

/** Returns the error for a silent agent, in the words of grpc-js. */
export function silent(ms: number): ServiceError {
	const details = `Deadline exceeded after ${ms / 1000}s without a sign of life`;
	return Object.assign(new Error(details), { code: status.DEADLINE_EXCEEDED, details, metadata: new Metadata() });
}

// One unary call as a promise: with a deadline, able to be cancelled from outside, its error turned into one of ours.
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
	/** For people: whose answer it is. */
	readonly cluster: string;
	/** The cluster whose agent asks. */
	readonly askedBy?: string | undefined;
	readonly metadata: Metadata;
	readonly deadlineMs: number;
	/** How much longer the answer may take once the agent has shown, by its headers, that it is at it. */
	readonly workMs?: number;
	/** Holds the call while it is open. */
	readonly open: Set<OpenCall>;
}

/** Rejects with the error that the status means; where it does, the request may have been carried out all the same. */
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

/** What limits how long an agent may say nothing at all. */
interface SilentCall extends OpenCall {
	once(event: "metadata", listener: () => void): unknown;
}

/** Cancels a call whose agent has not even sent headers by then; the returned function ends that. */
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

/** What a call ends with whose agent said nothing, as grpc-js says it. */
export function silent(ms: number): ServiceError {
	const details = `Deadline exceeded after ${ms / 1000}s without a sign of life`;
	return Object.assign(new Error(details), { code: status.DEADLINE_EXCEEDED, details, metadata: new Metadata() });
}

// Takes every call through the same steps, in this order: the caller is admitted, the request is read and checked, the caller's rights to
// its budgets are checked, the call is counted among the caller's open calls, and it is answered. Every failure becomes a status.
import {
	type handleServerStreamingCall,
	type handleUnaryCall,
	Metadata,
	type ServerUnaryCall,
	type ServerWritableStream,
	type StatusObject,
} from "@grpc/grpc-js";
import type { BudgetName } from "../../disruption/budget/budget.ts";
import { AgentUnavailableError } from "../../disruption/errors.ts";
import type { AgentCluster } from "../../proto/agent-cluster.ts";
import type { BudgetScope } from "../../proto/listed-lease.ts";
import { statusOfError } from "../../proto/status.ts";
import type { Admission, Caller } from "../peers/caller.ts";
import type { RouteOptions } from "../peers/peers.ts";
import type { AuditDetails, AuditLog } from "./audit-log.ts";
import { CallRecord } from "./call-record.ts";
import type { CallWatcher } from "./call-watcher.ts";
import type { CallerDeadlines } from "./caller-deadlines.ts";
import type { Gate, IncomingCall } from "./gate.ts";
import type { BudgetVerb } from "./identity.ts";
import type { OpenCalls } from "./open-calls.ts";

export type Refusal = Partial<StatusObject>;

interface CallPipelineOptions {
	readonly gate: Gate;
	readonly watcher: Pick<CallWatcher, "answered" | "failed">;
	readonly audit: AuditLog;
	/** Limits what callers may have open, on both ports together. */
	readonly openCalls: Pick<OpenCalls, "begin">;
	/** Returns the caller if the call was already judged by its headers. Otherwise, and if this is left out, the gate is asked. */
	readonly findCaller?: ((metadata: Metadata) => Caller | undefined) | undefined;
	/** Answers in time if the API server does not; if left out, calls wait for their own timeout. */
	readonly deadlines?: Pick<CallerDeadlines, "watch"> | undefined;
}

/** A request that was read and found valid. */
export interface Question<Answer, Call = AdmittedCall> {
	/**
	 * The budget of the request: the caller needs the right to it. Undefined if any verified caller may call, or if `scopes` has the
	 * budgets.
	 */
	readonly budget: BudgetName | undefined;
	/** The budgets of a request that may have several: the caller needs the right to each of them. */
	readonly scopes?: readonly BudgetScope[];
	/** The right that is needed; by default the right to decide. */
	readonly verb?: BudgetVerb;
	/** For the audit line. */
	readonly details?: AuditDetails;
	/** Counts the call until the returned function is called; by default among calls that end soon. */
	readonly begin?: (caller: Caller) => () => void;
	readonly answer: (call: Call) => Promise<Answer>;
}

/** A call whose caller may make it. */
export interface AdmittedCall {
	readonly caller: Caller;
	readonly record: CallRecord;
	/** Returns the cluster that the call is for. */
	readonly route: (options?: RouteOptions) => Promise<AgentCluster>;
	/** Returns the other members, for this caller. */
	readonly others: () => Promise<readonly Promise<AgentCluster>[]>;
	/** Tells the caller that its call is being served, for calls whose answer may take as long as a count (gathered-answers.ts). */
	readonly sendHeaders: () => void;
	/**
	 * Checks whether the caller has the right to decide about this budget. Returns the status to refuse the caller with, or undefined if
	 * the caller has the right.
	 */
	readonly authorize: (budget: BudgetScope) => Promise<Refusal | undefined>;
	/**
	 * Judges the caller and its rights once more, for calls that last. Returns the status to refuse the call with, or undefined if it may
	 * continue.
	 */
	readonly checkAgain: () => Promise<Refusal | undefined>;
}

/** A call that is answered with a stream. Its answer is the status at the end, or undefined for OK. */
export interface AdmittedStream<Response> extends AdmittedCall {
	readonly write: (message: Response, written?: () => void) => void;
	/** Aborts when the caller goes away. */
	readonly gone: AbortSignal;
}

export type StreamQuestion<Response> = Question<Refusal | undefined, AdmittedStream<Response>>;

interface ForCluster {
	readonly clusterId: string;
}

type ServedCall<Request> = IncomingCall & Pick<ServerUnaryCall<Request, unknown>, "request" | "sendMetadata">;

export class CallPipeline {
	readonly #options: CallPipelineOptions;

	constructor(options: CallPipelineOptions) {
		this.#options = options;
	}

	unary<Request extends ForCluster, Response>(
		method: string,
		read: (request: Request) => Question<Response>,
	): handleUnaryCall<Request, Response> {
		return (call, callback) => {
			const record = this.#record(method, call.request);
			const end = (refusal: Refusal | undefined, response?: Response): void => {
				if (!record.end(refusal)) return;
				stopWatching?.();
				if (refusal) callback(refusal);
				else callback(null, response);
			};
			const tell = (error: Error): void => end(statusOfError(error));
			const stopWatching = this.#options.deadlines?.watch({ call, name: method }, tell);
			this.#serve(call, record, read).then(
				({ refusal, answer }) => end(refusal, answer),
				(error: unknown) => end(record.failed(error)),
			);
		};
	}

	stream<Request extends ForCluster, Response>(
		method: string,
		read: (request: Request) => StreamQuestion<Response>,
	): handleServerStreamingCall<Request, Response> {
		return (call) => {
			const record = this.#record(method, call.request);
			const end = (refusal: Refusal | undefined): void => {
				record.end(refusal);
				// grpc-js takes this as the end of a stream with a status.
				if (refusal) call.emit("error", refusal);
				else call.end();
			};
			const gone = goneSignal(call);
			const readStream = (request: Request): Question<Refusal | undefined> => {
				const question = read(request);
				const write = (message: Response, written?: () => void) => void call.write(message, written);
				return { ...question, answer: (admitted) => question.answer({ ...admitted, write, gone }) };
			};
			this.#serve(call, record, readStream).then(
				({ refusal, answer }) => end(refusal ?? answer),
				// If the caller is gone, there is no one to tell, and nothing is wrong here.
				(error: unknown) => end(call.cancelled ? statusOfError(error) : record.failed(error)),
			);
		};
	}

	#record(method: string, { clusterId }: ForCluster): CallRecord {
		const { gate, watcher, audit } = this.#options;
		return new CallRecord({ method, port: gate.port, cluster: clusterId, watcher, audit });
	}

	async #serve<Request extends ForCluster, Answer>(
		call: ServedCall<Request>,
		record: CallRecord,
		read: (request: Request) => Question<Answer>,
	): Promise<{ readonly refusal?: Refusal | undefined; readonly answer?: Answer }> {
		const { gate, openCalls, findCaller } = this.#options;
		const known = findCaller?.(call.metadata);
		const admission: Admission = known ? { kind: "admitted", caller: known } : await gate.admit(call);
		if (admission.kind === "refused") return { refusal: admission.status };
		const { caller } = admission;
		record.caller = caller;
		const question = read(call.request);
		const { budget, details, begin = (by) => openCalls.begin(by) } = question;
		if (budget) record.budget = budget;
		if (details) record.details = details;
		const refusal = await this.#findRefusal(caller, question);
		if (refusal) return { refusal };
		const end = begin(caller);
		try {
			const answer = await question.answer({
				caller,
				record,
				route: (options) => gate.route(call.request.clusterId, call.metadata, caller, options),
				others: () => gate.others(caller),
				sendHeaders: () => call.sendMetadata(new Metadata()),
				authorize: (scope) => gate.authorize(caller, scope),
				checkAgain: async () => {
					const anew = await gate.admit(call);
					return anew.kind === "refused" ? anew.status : this.#findRefusal(anew.caller, question);
				},
			});
			return { answer };
		} finally {
			end();
		}
	}

	async #findRefusal(
		caller: Caller,
		{ budget, scopes = budget ? [budget] : [], verb }: Pick<Question<unknown>, "budget" | "scopes" | "verb">,
	): Promise<Refusal | undefined> {
		for (const scope of scopes) {
			const refusal = await this.#options.gate.authorize(caller, scope, verb);
			if (refusal) return refusal;
		}
		return undefined;
	}
}

function goneSignal(call: ServerWritableStream<unknown, unknown>): AbortSignal {
	const gone = new AbortController();
	// This event also comes after a regular end, when it has no effect.
	call.once("cancelled", () => gone.abort(new AgentUnavailableError("the caller went away", "")));
	return gone.signal;
}

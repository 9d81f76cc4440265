// Takes every call through the same steps: admit the caller, read and check the request, check the caller's rights to its budgets, count
// the open call, and answer it. Every failure becomes a status.
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
	/** Shared by both ports. */
	readonly openCalls: Pick<OpenCalls, "begin">;
	/** Returns the caller if the call was already admitted when its headers arrived. Otherwise, the gate admits it. */
	readonly findCaller?: ((metadata: Metadata) => Caller | undefined) | undefined;
	/** Tells callers in time that the API server is silent. If left out, calls wait for their own timeout. */
	readonly deadlines?: Pick<CallerDeadlines, "watch"> | undefined;
}

/** A request that was read and checked. */
export interface Question<Answer, Call = AdmittedCall> {
	/** The caller needs the right to this budget. Undefined if any admitted caller may call, or if `scopes` lists the budgets. */
	readonly budget: BudgetName | undefined;
	/** The caller needs the right to each of these. Default: `budget`. */
	readonly scopes?: readonly BudgetScope[];
	/** Default: `acquire`. */
	readonly verb?: BudgetVerb;
	readonly details?: AuditDetails;
	/** Counts the open call until the returned function is called. Default: openCalls.begin(). */
	readonly begin?: (caller: Caller) => () => void;
	readonly answer: (call: Call) => Promise<Answer>;
}

export interface AdmittedCall {
	readonly caller: Caller;
	readonly record: CallRecord;
	readonly route: (options?: RouteOptions) => Promise<AgentCluster>;
	/** Returns the other members, for this caller. */
	readonly others: () => Promise<readonly Promise<AgentCluster>[]>;
	/** Tells the caller that its call is being served, for answers that may take as long as a count (gathered-answers.ts). */
	readonly sendHeaders: () => void;
	/** Checks the right to acquire the budget. Returns undefined if the caller has it. */
	readonly authorize: (budget: BudgetScope) => Promise<Refusal | undefined>;
	/** Checks the caller and its rights again, for calls that last. Returns undefined if the call may continue. */
	readonly checkAgain: () => Promise<Refusal | undefined>;
}

export interface AdmittedStream<Response> extends AdmittedCall {
	readonly write: (message: Response, written?: () => void) => void;
	readonly gone: AbortSignal;
}

/** The answer is the status at the end of the stream; undefined means OK. */
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
				// This is how a grpc-js stream ends with a status.
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
				// After the caller went away, failures are expected, so they are not logged.
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
	// grpc-js also emits this event after a regular end, when it has no effect.
	call.once("cancelled", () => gone.abort(new AgentUnavailableError("the caller went away", "")));
	return gone.signal;
}

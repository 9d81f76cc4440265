// The generated client of an agent. Its calls go over the simulated network instead of a connection.
import { EventEmitter } from "node:events";
import { type Metadata, type ServiceError, status } from "@grpc/grpc-js";
import type { AgentServiceClient } from "../../proto/gen/xpdb/v1/agent.ts";
import {
	callText,
	definitionOf,
	serviceError,
	type WireAnswer,
	type WireMethod,
	type WireRequest,
} from "./wire-message.ts";

/** Rejects if the network fails. */
export type SendWire = (request: WireRequest) => Promise<WireAnswer>;

type UnaryCallback = (error: ServiceError | null, response?: unknown) => void;

const unary: readonly WireMethod[] = [
	"describe",
	"count",
	"renew",
	"commit",
	"release",
	"confirm",
	"cancel",
	"listBudgets",
	"listLeases",
	"endHolding",
	"greet",
];

export function wireClient(send: SendWire): AgentServiceClient {
	const begin = (method: WireMethod, request: unknown, metadata: Metadata): WireCall => {
		const call = new WireCall();
		const { requestSerialize, responseDeserialize } = definitionOf(method);
		const { signal } = call.controller;
		const sent: WireRequest = {
			method,
			bytes: requestSerialize(request),
			metadata,
			asked: request,
			what: callText(method, request),
			signal,
			onMessage: (bytes) => call.emit("data", responseDeserialize(bytes)),
		};
		send(sent).then(
			({ bytes, refusal }) => {
				if (refusal) call.emit("error", serviceError(refusal));
				else if (bytes) call.emit("data", responseDeserialize(bytes));
				if (!refusal) call.emit("end");
			},
			(error: unknown) => call.emit("error", brokenOff(error, signal)),
		);
		return call;
	};
	const methods = unary.map((method): [WireMethod, unknown] => [
		method,
		(request: unknown, metadata: Metadata, _options: unknown, callback: UnaryCallback) => {
			const call = begin(method, request, metadata);
			call.once("data", (response) => callback(null, response));
			call.once("error", (error: ServiceError) => callback(error));
			return call;
		},
	]);
	const acquire = (request: unknown, metadata: Metadata): WireCall => begin("acquire", request, metadata);
	// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the methods that are asked in a schedule
	return { ...Object.fromEntries(methods), acquire, waitForReady } as unknown as AgentServiceClient;
}

/** Connections are ready at once. */
function waitForReady(_until: unknown, callback: () => void): void {
	queueMicrotask(callback);
}

/** The parts of a gRPC call that the shipped code uses, for unary calls and for streams. */
class WireCall extends EventEmitter {
	readonly controller = new AbortController();

	constructor() {
		super();
		// Headers come at once: the network's faults decide whether an agent is silent, and not the machine's clock.
		queueMicrotask(() => this.emit("metadata"));
	}

	cancel(): void {
		this.controller.abort(new Error("cancelled"));
	}
}

function brokenOff(error: unknown, signal: AbortSignal): ServiceError {
	const details = error instanceof Error ? error.message : String(error);
	return serviceError({ code: signal.aborted ? status.CANCELLED : status.UNAVAILABLE, details });
}

// Defines what travels between a caller and an agent in a schedule over the wire: protobuf messages as bytes of the generated code, and
// what gRPC sends with them.
import { Metadata, type ServiceError, type StatusObject, status } from "@grpc/grpc-js";
import { AgentServiceService } from "../../proto/gen/xpdb/v1/agent.ts";
import type * as wire from "../../proto/gen/xpdb/v1/agent.ts";

export type WireMethod = keyof typeof AgentServiceService;

interface MethodDefinition {
	readonly path: string;
	readonly requestSerialize: (value: unknown) => Buffer;
	readonly requestDeserialize: (bytes: Buffer) => unknown;
	readonly responseSerialize: (value: unknown) => Buffer;
	readonly responseDeserialize: (bytes: Buffer) => unknown;
}

export interface WireRequest {
	readonly method: WireMethod;
	readonly bytes: Buffer;
	readonly metadata: Metadata;
	/** The request before it was encoded, for the judge. */
	readonly asked: unknown;
	readonly what: string;
	/** Aborted when the caller cancels the call. */
	readonly signal: AbortSignal;
	/** Gets each message of a stream except the last. */
	readonly onMessage: (bytes: Buffer) => void;
}

/** The last message of an answer, or the status with which the agent refused the call. */
export class WireAnswer {
	readonly bytes: Buffer | undefined;
	readonly refusal: Partial<StatusObject> | undefined;
	/** What the agent answered before it was encoded, for the judge. */
	readonly said: unknown;

	constructor({ bytes, refusal, said }: Partial<Pick<WireAnswer, "bytes" | "refusal" | "said">>) {
		this.bytes = bytes;
		this.refusal = refusal;
		this.said = said;
	}

	toJSON(): unknown {
		return this.refusal?.details ?? this.said ?? "done";
	}
}

export function definitionOf(method: WireMethod): MethodDefinition {
	// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each takes its own messages, which this code does not look into
	return AgentServiceService[method] as unknown as MethodDefinition;
}

export function serviceError({ code = status.UNKNOWN, details = "", metadata }: Partial<StatusObject>): ServiceError {
	return Object.assign(new Error(details), { code, details, metadata: metadata ?? new Metadata() });
}

/** Scenarios recognise calls by these words, so they match those of member.ts, except for calls that no scenario waits for. */
export function callText(method: WireMethod, request: unknown): string {
	// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the fields that any of the requests has
	const asked = request as Partial<
		wire.AcquireRequest & wire.CountRequest & wire.CommitRequest & wire.CancelRequest & wire.GreetRequest
	>;
	const { acquisition, budget, ids = [], grants = [] } = asked;
	const named = `${acquisition?.budget?.name} (acquisition ${acquisition?.leaseTransitions}, ${acquisition?.nonce})`;
	switch (method) {
		case "acquire":
			return `acquire ${budget?.name}${asked.wait ? " in line" : ""} (${asked.nonce})`;
		case "count":
			return acquisition ? `count ${named}` : `look at ${budget?.name}`;
		case "commit": {
			const granted = grants.map(({ pod, id }) => `${pod?.name} as ${id}`).join(", ");
			return `commit ${named} granting ${granted || "nothing"}`;
		}
		case "renew":
		case "release":
			return `${method} ${named}`;
		case "confirm":
			return `confirm ${budget?.name} ${ids.join(", ")}`;
		case "cancel":
			return `${asked.sent ? "cancel" : "take back"} ${budget?.name} ${ids.join(", ")}`;
		case "listBudgets":
			return "list budgets";
		case "greet":
			return `greet ${asked.clusterId}`;
		case "describe":
		case "listLeases":
		case "endHolding":
		case "watchBudgets":
			return method;
	}
}

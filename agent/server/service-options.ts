import type { Metadata } from "@grpc/grpc-js";
import type { Clock } from "../process/clock.ts";
import type { AuditLog } from "./audit-log.ts";
import type { CallWatcher } from "./call-watcher.ts";
import type { Caller } from "../peers/caller.ts";
import type { CallerDeadlines } from "./caller-deadlines.ts";
import type { Gate } from "./gate.ts";
import type { GreetingReceiver } from "../peers/greetings.ts";
import type { HeldLeases } from "./held-leases.ts";
import type { OpenCalls } from "./open-calls.ts";

export interface AgentServiceOptions {
	readonly gate: Gate;
	readonly watcher: CallWatcher;
	/** Limits what callers may have open, on both ports together. */
	readonly openCalls: OpenCalls;
	readonly held: HeldLeases;
	/** The caller of a call that was already judged by its headers; if left out, the gate is asked. */
	readonly findCaller?: (metadata: Metadata) => Caller | undefined;
	/** Receives greetings, on the peer port. */
	readonly greetings?: GreetingReceiver;
	readonly audit: AuditLog;
	/** Answers in time if the API server does not; if left out, calls wait for their own timeout. */
	readonly deadlines?: CallerDeadlines;
	/** Times the repeated checks of callers with an endless call. */
	readonly clock: Pick<Clock, "after">;
	/** Aborts callers that wait in line when the agent stops. */
	readonly stopping: AbortSignal;
}

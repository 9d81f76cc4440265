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
	/** What callers may have open, on both ports together. */
	readonly openCalls: OpenCalls;
	readonly held: HeldLeases;
	/** Whose call it is, where that was judged by its headers already; asked of the gate if left out. */
	readonly findCaller?: (metadata: Metadata) => Caller | undefined;
	/** Who is told of greetings, on the peer port. */
	readonly greetings?: GreetingReceiver;
	readonly audit: AuditLog;
	/** Who answers in time where the API server does not; nobody if left out. */
	readonly deadlines?: CallerDeadlines;
	/** When callers with a call without an end are looked at again. */
	readonly clock: Pick<Clock, "after">;
	/** Aborts callers that wait in line when the agent stops. */
	readonly stopping: AbortSignal;
}

import type { CallWatcher } from "./call-watcher.ts";
import type { Gate } from "./gate.ts";

export interface AgentServiceOptions {
	readonly gate: Gate;
	readonly watcher: CallWatcher;
	/** Aborts callers that wait in line when the agent stops. */
	readonly stopping: AbortSignal;
}

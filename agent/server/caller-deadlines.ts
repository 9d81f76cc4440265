// Callers stop waiting at their deadline, and would then blame this agent although it waits for a silent API server itself. So shortly
// before the deadline the agent reports that. What was requested may still be done, as with any missing answer.
import type { ServerUnaryCall } from "@grpc/grpc-js";
import { AgentUnavailableError } from "../../disruption/errors.ts";
import type { ApiConnection } from "../kubernetes/api-connection.ts";
import type { Clock } from "../process/clock.ts";

interface CallerDeadlinesOptions {
	readonly api: Pick<ApiConnection, "silentMs">;
	readonly clock: Pick<Clock, "after">;
	/** Milliseconds since 1970, as in gRPC deadlines. */
	readonly wallClock: () => number;
	/** For messages. */
	readonly cluster: string;
}

interface WatchedCall {
	readonly name: string;
	readonly call: Pick<ServerUnaryCall<unknown, unknown>, "getDeadline">;
	readonly withinMs?: number;
}

/** Enough for the answer to arrive over a link of 200 ms. */
const aheadMs = 500;
/** An agent gives up another agent that showed no sign of life for 4 s, although a count may take longer: see Peers. */
export const admissionMs = 4_000 - aheadMs;
/** A healthy API server answers a ping in milliseconds, a busy one within this time. */
const silentForMs = 1_500;

export class CallerDeadlines {
	readonly #options: CallerDeadlinesOptions;

	constructor(options: CallerDeadlinesOptions) {
		this.#options = options;
	}

	/**
	 * Calls back with the reason if there will be no answer because of the API server; the returned function stops that. `withinMs`: how long
	 * from now the caller waits at most, if that is less than its deadline.
	 */
	watch(
		{ name, call, withinMs = Number.POSITIVE_INFINITY }: WatchedCall,
		tell: (error: AgentUnavailableError) => void,
	): () => void {
		const { api, clock, cluster, wallClock } = this.#options;
		const ms = Math.min(withinMs, Number(call.getDeadline()) - wallClock() - aheadMs);
		if (!Number.isFinite(ms)) return () => undefined;
		return clock.after(Math.max(0, ms), () => {
			const { silentMs } = api;
			if (silentMs < silentForMs) return;
			const message = `cluster "${cluster}": the API server has not answered for ${(silentMs / 1000).toFixed(1)} s (call ${name})`;
			tell(new AgentUnavailableError(message, cluster, { silent: "apiServer" }));
		});
	}
}

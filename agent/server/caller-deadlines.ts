// Tells callers shortly before their deadline if the API server is silent. Otherwise they would stop waiting and blame this agent, although
// the agent itself waits for the API server. What was requested may still be done, as with any missing answer.
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
/** How long the admission of a call may take. Another agent gives this one up after 4 s without a sign of life (peers.ts). */
export const admissionMs = 4_000 - aheadMs;
/** A healthy API server answers a ping in milliseconds, a busy one within this time. */
const silentForMs = 1_500;

export class CallerDeadlines {
	readonly #options: CallerDeadlinesOptions;

	constructor(options: CallerDeadlinesOptions) {
		this.#options = options;
	}

	/**
	 * Calls `tell` shortly before the call's deadline if the API server is silent then. The returned function stops that. `withinMs`: how
	 * long from now the caller waits at most, if its deadline is later.
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

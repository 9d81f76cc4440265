// Tells callers shortly before their deadline if the API server is silent. Otherwise they would time out and blame this agent. The request
// may still be carried out, as after any timeout.
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
/** Limit for the admission of a call: another agent gives up after 4 s without an answer (peers.ts). */
export const admissionMs = 4_000 - aheadMs;
/** A healthy API server answers a ping in milliseconds, a busy one within this time. */
const silentForMs = 1_500;

export class CallerDeadlines {
	readonly #options: CallerDeadlinesOptions;

	constructor(options: CallerDeadlinesOptions) {
		this.#options = options;
	}

	/**
	 * Calls `tell` if the API server is silent shortly before the call's deadline, or after `withinMs` if that is earlier. The returned
	 * function cancels this.
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

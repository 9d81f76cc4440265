// Callers stop waiting at their deadline, and would then blame this agent for the silence of the API server that it waits for
// itself. Shortly before, it says what it knows. What was asked for may be done all the same, as with any answer that is missing.
import type { ServerUnaryCall } from "@grpc/grpc-js";
import { AgentUnavailableError } from "../../disruption/errors.ts";
import type { ApiConnection } from "../kubernetes/api-connection.ts";
import type { Clock } from "../process/clock.ts";

interface CallerDeadlinesOptions {
	readonly api: Pick<ApiConnection, "silentMs">;
	readonly clock: Pick<Clock, "after">;
	/** Milliseconds since 1970, as gRPC has deadlines. */
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
/** Agents give up another one that has shown no life for 4 s, though a count may take longer: see Peers. */
export const admissionMs = 4_000 - aheadMs;
/** A healthy API server answers a ping in milliseconds, a busy one within this. */
const silentForMs = 1_500;

export class CallerDeadlines {
	readonly #options: CallerDeadlinesOptions;

	constructor(options: CallerDeadlinesOptions) {
		this.#options = options;
	}

	/**
	 * Calls back with why there will be no answer, where it is the API server; the returned function ends that. `withinMs`: how
	 * long from now the caller waits at the most, where that is less than its deadline.
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
			const message = `Cannot answer ${name} in cluster "${cluster}": its API server has not answered for ${(silentMs / 1000).toFixed(1)} s`;
			tell(new AgentUnavailableError(message, cluster, { silent: "apiServer" }));
		});
	}
}

// Reads the stream of WatchBudgets for a client. The stream has no deadline, and the agent sends a message at least every two seconds. A
// stream that is silent for longer than `silentMs` ends, because its last message must not count as the current state.
import { type ClientReadableStream, type ServiceError, status } from "@grpc/grpc-js";
import { AgentProtocolError, AgentUnavailableError } from "../disruption/errors.ts";
import { quote } from "../disruption/quote.ts";
import type { BudgetsUpdate, WatchOptions, WatchUnsupported } from "./agent-cluster.ts";
import type * as wire from "./gen/xpdb/v1/agent.ts";
import { errorOfStatus } from "./status.ts";
import { type OpenCall, silent } from "./unary.ts";
import { readUpdate } from "./wire-watch.ts";

interface ReadWatchOptions extends WatchOptions {
	/** The id of the cluster that was asked. */
	readonly id: string;
	/** Its name, for people. */
	readonly cluster: string;
	readonly askedBy?: string | undefined;
	readonly silentMs: number;
	/** Contains the call while it is open. */
	readonly open: Set<OpenCall>;
}

export async function readWatch(
	start: () => ClientReadableStream<wire.WatchBudgetsResponse>,
	{ id, cluster, askedBy, silentMs, open, signal, onUpdate }: ReadWatchOptions,
): Promise<WatchUnsupported> {
	signal.throwIfAborted();
	const call = start();
	const { promise, resolve, reject } = Promise.withResolvers<WatchUnsupported>();
	const failure = (error: ServiceError): Error => errorOfStatus(error, { cluster, call: "WatchBudgets", askedBy });
	const timer = setTimeout(() => reject(failure(silent(silentMs))), silentMs);
	const onAbort = (): void => reject(signal.reason);
	signal.addEventListener("abort", onAbort, { once: true });
	open.add(call);
	call.on("data", (response: wire.WatchBudgetsResponse) => {
		timer.refresh();
		try {
			const update = readUpdate(response);
			for (const from of [response.clusterId, ...countedBy(update)]) {
				if (from === id) continue;
				throw new AgentProtocolError(
					`cannot use the answer to WatchBudgets of cluster "${cluster}": asked for cluster id "${id}", got ${quote(from)}`,
				);
			}
			onUpdate(update);
		} catch (error) {
			reject(error);
		}
	});
	call.on("error", (error: ServiceError) => {
		if (error.code === status.UNIMPLEMENTED) resolve({ kind: "unsupported" });
		else reject(failure(error));
	});
	call.on("end", () => {
		const message = `cannot watch the budgets of cluster "${cluster}": its agent ended the watch`;
		reject(new AgentUnavailableError(message, cluster));
	});
	try {
		return await promise;
	} finally {
		clearTimeout(timer);
		signal.removeEventListener("abort", onAbort);
		open.delete(call);
		call.cancel();
	}
}

/** Returns the cluster ids in the counts. A count of another cluster must not be taken for one of this cluster. */
function countedBy({ changed }: BudgetsUpdate): readonly string[] {
	return changed.flatMap(({ state }) => ("unknown" in state ? [] : [state.clusterId]));
}

// The client's end of WatchBudgets: a stream without a deadline, which an agent keeps alive by a message every two seconds. One
// that stays silent for longer than a call may take is over: what it told last must not pass for what is so now.
import { type ClientReadableStream, type ServiceError, status } from "@grpc/grpc-js";
import { AgentProtocolError, AgentUnavailableError } from "../disruption/errors.ts";
import { quote } from "../disruption/quote.ts";
import type { BudgetsUpdate, WatchOptions, WatchUnsupported } from "./agent-cluster.ts";
import type * as wire from "./gen/xpdb/v1/agent.ts";
import { errorOfStatus } from "./status.ts";
import { type OpenCall, silent } from "./unary.ts";
import { readUpdate } from "./wire-watch.ts";

interface ReadWatchOptions extends WatchOptions {
	/** Of the cluster that was asked. */
	readonly id: string;
	/** For people: its name. */
	readonly cluster: string;
	readonly askedBy?: string | undefined;
	readonly silentMs: number;
	/** Holds the call while it is open. */
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
					`Cannot use the answer to WatchBudgets of cluster "${cluster}": asked for cluster id "${id}", got ${quote(from)}`,
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
		const message = `Cannot watch the budgets of cluster "${cluster}": its agent ended the watch`;
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

/** Who counted says so in each count: one of another cluster must not pass for this one's. */
function countedBy({ changed }: BudgetsUpdate): readonly string[] {
	return changed.flatMap(({ state }) => ("unknown" in state ? [] : [state.clusterId]));
}

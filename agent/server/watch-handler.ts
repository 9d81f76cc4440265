// Answers WatchBudgets with a stream of unlimited length, so its caller is checked again and again. The stream ends when the caller's
// token, membership or connection ends, or when the agent stops. The reader then connects again and receives everything again. Counts of a
// budget are sent only to callers that may request its count.
import { status } from "@grpc/grpc-js";
import { AgentUnavailableError } from "../../disruption/errors.ts";
import type { BudgetsUpdate, WatchedBudget } from "../../proto/agent-cluster.ts";
import type * as wire from "../../proto/gen/xpdb/v1/agent.ts";
import { updateMessage } from "../../proto/wire-watch.ts";
import type { Clock } from "../process/clock.ts";
import type { AdmittedStream, Refusal, StreamQuestion } from "./call-pipeline.ts";
import type { OpenCalls } from "./open-calls.ts";
import * as limits from "./request-limits.ts";
import { UpdateOutbox } from "./update-outbox.ts";

interface WatchHandlerOptions {
	readonly openCalls: Pick<OpenCalls, "beginWatch">;
	readonly clock: Pick<Clock, "after">;
	readonly stopping: AbortSignal;
}

type WatchCall = AdmittedStream<wire.WatchBudgetsResponse>;

/** Accepted tokens are cached for a minute, so checking more often would find little more. */
const admitEveryMs = 15_000;
/** Changes that come together are sent together. */
const gatherMs = 50;

const unsupported: Refusal = {
	code: status.UNIMPLEMENTED,
	details: "the agent does not support watches of budgets yet",
};

export function handleWatch(
	{ namespaces }: wire.WatchBudgetsRequest,
	options: WatchHandlerOptions,
): StreamQuestion<wire.WatchBudgetsResponse> {
	limits.assertNamespaces(namespaces);
	return {
		budget: undefined,
		begin: (caller) => options.openCalls.beginWatch(caller),
		answer: (call) => watch(call, namespaces, options),
	};
}

async function watch(
	call: WatchCall,
	namespaces: readonly string[],
	{ clock, stopping }: WatchHandlerOptions,
): Promise<Refusal> {
	const over = new AbortController();
	const outbox = new UpdateOutbox();
	const signal = AbortSignal.any([call.gone, over.signal, stopping]);
	try {
		const cluster = await call.route();
		call.sendHeaders();
		const onUpdate = (update: BudgetsUpdate): void => {
			try {
				outbox.put(update);
			} catch (error) {
				over.abort(error);
			}
		};
		const watching = cluster.watchBudgets(namespaces, { signal, onUpdate });
		return await Promise.race([
			watching.then(() => unsupported),
			sendAll(call, { outbox, clusterId: cluster.id, signal, clock }),
			refused(call, { signal, clock }),
		]);
	} finally {
		over.abort(new AgentUnavailableError("the watch has ended", ""));
	}
}

interface Pace {
	readonly signal: AbortSignal;
	readonly clock: Pick<Clock, "after">;
}

interface Sending extends Pace {
	readonly outbox: UpdateOutbox;
	readonly clusterId: string;
}

/**
 * Builds each message when the connection has accepted the previous one. Never resolves. After the signal aborts, rejects at the next pause
 * or message, so race it with a promise that rejects immediately.
 */
async function sendAll(call: WatchCall, { outbox, clusterId, ...pace }: Sending): Promise<never> {
	for (;;) {
		await outbox.filled();
		await pause(gatherMs, pace);
		const update = await permitted(outbox.take(), call);
		await new Promise<void>((resolve) => {
			call.write(updateMessage(clusterId, update), resolve);
		});
		// Measures the time until the reader has everything. How long a person watches means nothing.
		if (update.complete) call.record.measure();
		pace.signal.throwIfAborted();
	}
}

/** Budgets to which the caller has no right become unknown, and their history is left out. */
async function permitted(update: BudgetsUpdate, { authorize }: WatchCall): Promise<BudgetsUpdate> {
	const changed = await Promise.all(
		update.changed.map(async ({ budget, state }): Promise<WatchedBudget> => {
			const refusal = await authorize(budget.name);
			return { budget, state: refusal ? { unknown: refusal.details ?? "no permission for this budget" } : state };
		}),
	);
	if (!update.histories) return { ...update, changed };
	const histories = await Promise.all(
		update.histories.map(async (history) => ((await authorize(history.budget)) ? [] : [history])),
	);
	return { ...update, changed, histories: histories.flat() };
}

/** Resolves with the refusal when the caller is no longer admitted. */
async function refused(call: WatchCall, pace: Pace): Promise<Refusal> {
	for (;;) {
		await pause(admitEveryMs, pace);
		const refusal = await call.checkAgain();
		if (refusal) return refusal;
	}
}

/** Waits for this time. Rejects with the signal's reason if the signal aborts first. */
function pause(ms: number, { signal, clock }: Pace): Promise<void> {
	return new Promise((resolve, reject) => {
		const leave = (): void => {
			cancel();
			reject(signal.reason);
		};
		const cancel = clock.after(ms, () => {
			signal.removeEventListener("abort", leave);
			resolve();
		});
		if (signal.aborted) leave();
		else signal.addEventListener("abort", leave, { once: true });
	});
}

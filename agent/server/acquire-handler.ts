// Answers Acquire with a stream of places in line that ends with the acquisition. If the caller does not wait, the stream has one message:
// the acquisition or a place.
//
// If the caller goes away, it leaves the line. An acquisition made at that moment is released, because it would block all others for a
// lease duration.
import type { AcquireRequest } from "../../disruption/budget/cluster.ts";
import type * as wire from "../../proto/gen/xpdb/v1/agent.ts";
import { placeMessage } from "../../proto/wire.ts";
import { acquiredMessage, readAcquireRequest } from "../../proto/wire-calls.ts";
import type { AdmittedStream, Refusal, StreamQuestion } from "./call-pipeline.ts";
import type { CallWatcher } from "./call-watcher.ts";
import type { HeldLeases } from "./held-leases.ts";
import type { OpenCalls } from "./open-calls.ts";
import * as limits from "./request-limits.ts";

interface AcquireHandlerOptions {
	readonly openCalls: Pick<OpenCalls, "beginAcquire">;
	readonly held: Pick<HeldLeases, "assertRoom" | "begin" | "end">;
	readonly watcher: Pick<CallWatcher, "acquired">;
	/** Aborts when the agent stops, which ends waiting calls. */
	readonly stopping: AbortSignal;
}

type AcquireCall = AdmittedStream<wire.AcquireResponse>;
type Outcome = NonNullable<wire.AcquireResponse["outcome"]>;

export function handleAcquire(
	message: wire.AcquireRequest,
	options: AcquireHandlerOptions,
): StreamQuestion<wire.AcquireResponse> {
	const request = readAcquireRequest(message);
	limits.assertAcquire(request);
	const { budget, candidates, holder } = request;
	return {
		budget,
		details: { candidates: candidates.length, claimedHolder: holder },
		begin: (caller) => options.openCalls.beginAcquire(caller, candidates.length),
		answer: (call) => acquire(call, { request, wait: message.wait }, options),
	};
}

async function acquire(
	call: AcquireCall,
	{ request, wait }: { readonly request: AcquireRequest; readonly wait: boolean },
	{ held, watcher, stopping }: AcquireHandlerOptions,
): Promise<Refusal | undefined> {
	const { caller, record, gone } = call;
	held.assertRoom(caller);
	const cluster = await call.route();
	const respond = (outcome: Outcome): wire.AcquireResponse => ({ clusterId: cluster.id, outcome });
	call.sendHeaders();
	const sent = Promise.withResolvers<void>();
	let hasWaited = false;
	const outcome = await cluster.acquire(request, {
		wait,
		signal: AbortSignal.any([gone, stopping]),
		onQueued(place) {
			hasWaited = true;
			call.write(respond({ $case: "held", value: placeMessage(place) }));
		},
		answered: sent.promise,
	});
	watcher.acquired(outcome);
	record.outcome = outcome.kind;
	if (outcome.kind === "held") {
		call.write(respond({ $case: "held", value: placeMessage(outcome) }));
		return undefined;
	}
	const { acquisition } = outcome;
	if (!acquisition.unwritten) held.begin(caller, cluster, acquisition);
	const release = async (): Promise<void> => {
		held.end(acquisition);
		await cluster.release(acquisition);
	};
	if (hasWaited) {
		// During the wait, the calling member may have left the fleet, or the caller's token or right may have ended.
		const refusal = await call.checkAgain().catch(async (error: unknown) => {
			await release();
			throw error;
		});
		if (refusal) {
			await release();
			return refusal;
		}
	}
	record.details = { ...record.details, transitions: acquisition.leaseTransitions };
	if (await delivered(call, respond({ $case: "acquired", value: acquiredMessage(outcome) }))) sent.resolve();
	else await release();
	return undefined;
}

/** Resolves to true if the message was passed to the connection before the caller went away. */
function delivered({ write, gone }: AcquireCall, message: wire.AcquireResponse): Promise<boolean> {
	return new Promise((resolve) => {
		if (gone.aborted) {
			resolve(false);
			return;
		}
		gone.addEventListener("abort", () => resolve(false), { once: true });
		write(message, () => resolve(true));
	});
}

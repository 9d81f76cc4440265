// WatchBudgets: a stream without an end, so its caller is checked again and again. It ends with the caller's token, with its membership,
// with the connection (which ends with the certificate), and with the agent. Then the reader connects again and receives everything again.
// Counts are sent only to callers that may request a count.
import {
	type handleServerStreamingCall,
	Metadata,
	type ServerWritableStream,
	type StatusObject,
	status,
} from "@grpc/grpc-js";
import { AgentUnavailableError } from "../../disruption/errors.ts";
import type { BudgetsUpdate, WatchedBudget } from "../../proto/agent-cluster.ts";
import type * as wire from "../../proto/gen/xpdb/v1/agent.ts";
import { statusOfError } from "../../proto/status.ts";
import { updateMessage } from "../../proto/wire-watch.ts";
import type { AuditRecord } from "./audit-log.ts";
import type { Admission, Caller } from "../peers/caller.ts";
import type { Gate } from "./gate.ts";
import * as limits from "./request-limits.ts";
import type { AgentServiceOptions } from "./service-options.ts";
import { UpdateOutbox } from "./update-outbox.ts";

type WatchCall = ServerWritableStream<wire.WatchBudgetsRequest, wire.WatchBudgetsResponse>;

/** Valid tokens are cached for a minute in any case. */
const admitEveryMs = 15_000;
/** Changes that come together are sent together. */
const gatherMs = 50;

const unsupported: Partial<StatusObject> = {
	code: status.UNIMPLEMENTED,
	details: "The agent that was asked for is older than watches of budgets",
};

export function createWatchHandler(
	options: AgentServiceOptions,
): handleServerStreamingCall<wire.WatchBudgetsRequest, wire.WatchBudgetsResponse> {
	const { gate, watcher, audit } = options;
	return (call) => {
		const startedAt = performance.now();
		const record: AuditRecord = { method: "WatchBudgets", port: gate.port, cluster: call.request.clusterId };
		let isMeasured = false;
		/** How long people watch means nothing. What is measured is the time until they know everything, or that they will not. */
		const measure = (code: status): void => {
			if (!isMeasured) watcher.answered({ name: "WatchBudgets", port: gate.port, startedAt, code });
			isMeasured = true;
		};
		const finish = (refusal: Partial<StatusObject>): void => {
			measure(refusal.code ?? status.OK);
			audit.ended(record, refusal);
			call.emit("error", refusal);
		};
		const isComplete = (): void => measure(status.OK);
		watchFor(call, { record, isComplete }, options).then(finish, (error: unknown) => {
			// The caller is gone: there is no one to tell, and nothing is wrong here.
			if (!call.cancelled) watcher.failed("WatchBudgets", error);
			finish(statusOfError(error));
		});
	};
}

interface Told {
	readonly record: AuditRecord;
	readonly isComplete: () => void;
}

async function watchFor(
	call: WatchCall,
	{ record, isComplete }: Told,
	options: AgentServiceOptions,
): Promise<Partial<StatusObject>> {
	const { gate, openCalls, findCaller, stopping } = options;
	const over = new AbortController();
	call.once("cancelled", () => over.abort(new AgentUnavailableError("The caller went away", "")));
	const known = findCaller?.(call.metadata);
	const admission: Admission = known ? { kind: "admitted", caller: known } : await gate.admit(call);
	if (admission.kind === "refused") return admission.status;
	const { caller } = admission;
	record.caller = caller;
	const { namespaces, clusterId } = call.request;
	limits.assertNamespaces(namespaces);
	const end = openCalls.beginWatch(caller);
	const outbox = new UpdateOutbox();
	const signal = AbortSignal.any([over.signal, stopping]);
	try {
		const cluster = await gate.route(clusterId, call.metadata, caller);
		call.sendMetadata(new Metadata());
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
			sendAll(call, { outbox, clusterId: cluster.id, caller, isComplete, signal }, options),
			refused(call, signal, options),
		]);
	} finally {
		over.abort(new AgentUnavailableError("The watch has ended", ""));
		end();
	}
}

interface Sending {
	readonly outbox: UpdateOutbox;
	readonly clusterId: string;
	readonly caller: Caller;
	readonly isComplete: () => void;
	readonly signal: AbortSignal;
}

/** Sends one message at a time: the next is made when the connection has taken the last. Never resolves. */
async function sendAll(
	call: WatchCall,
	{ outbox, clusterId, caller, isComplete, signal }: Sending,
	{ gate, clock }: AgentServiceOptions,
): Promise<never> {
	for (;;) {
		await outbox.filled();
		await pause(gatherMs, clock, signal);
		const update = await permitted(outbox.take(), caller, gate);
		await new Promise<void>((resolve) => {
			call.write(updateMessage(clusterId, update), () => resolve());
		});
		if (update.complete) isComplete();
		signal.throwIfAborted();
	}
}

/** Budgets to which the caller has no right are listed as unknown; nothing is sent about their history. */
async function permitted(update: BudgetsUpdate, caller: Caller, gate: Gate): Promise<BudgetsUpdate> {
	const changed = await Promise.all(
		update.changed.map(async ({ budget, state }): Promise<WatchedBudget> => {
			const refusal = await gate.authorize(caller, budget.name);
			return { budget, state: refusal ? { unknown: refusal.details ?? "it is not yours" } : state };
		}),
	);
	if (!update.histories) return { ...update, changed };
	const histories = await Promise.all(
		update.histories.map(async (history) => ((await gate.authorize(caller, history.budget)) ? [] : [history])),
	);
	return { ...update, changed, histories: histories.flat() };
}

/** Resolves when the caller is no longer admitted. */
async function refused(
	call: WatchCall,
	signal: AbortSignal,
	{ gate, clock }: AgentServiceOptions,
): Promise<Partial<StatusObject>> {
	for (;;) {
		await pause(admitEveryMs, clock, signal);
		const admission = await gate.admit(call);
		if (admission.kind === "refused") return admission.status;
	}
}

/** Rejects if the signal aborts first. */
function pause(ms: number, clock: AgentServiceOptions["clock"], signal: AbortSignal): Promise<void> {
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

// Acquire: a stream of places in line that ends with the acquisition. If the caller goes away, it leaves the line, and an acquisition made
// for it at that very moment is released. Otherwise it would block all others for a lease time.
import {
	type handleServerStreamingCall,
	Metadata,
	type ServerWritableStream,
	type StatusObject,
	status,
} from "@grpc/grpc-js";
import type { AcquireRequest } from "../../disruption/budget/cluster.ts";
import { AgentUnavailableError } from "../../disruption/errors.ts";
import type * as wire from "../../proto/gen/xpdb/v1/agent.ts";
import { statusOfError } from "../../proto/status.ts";
import { placeMessage } from "../../proto/wire.ts";
import { acquiredMessage, readAcquireRequest } from "../../proto/wire-calls.ts";
import type { AuditRecord } from "./audit-log.ts";
import type { Admission, Caller } from "../peers/caller.ts";
import type { Gate } from "./gate.ts";
import * as limits from "./request-limits.ts";
import type { AgentServiceOptions } from "./service-options.ts";

type AcquireCall = ServerWritableStream<wire.AcquireRequest, wire.AcquireResponse>;

export function createAcquireHandler(
	options: AgentServiceOptions,
): handleServerStreamingCall<wire.AcquireRequest, wire.AcquireResponse> {
	const { gate, watcher, audit } = options;
	return (call) => {
		const startedAt = performance.now();
		const record: AuditRecord = { method: "Acquire", port: gate.port, cluster: call.request.clusterId };
		const finish = (refusal: Partial<StatusObject> | undefined): void => {
			watcher.answered({ name: "Acquire", port: gate.port, startedAt, code: refusal?.code ?? status.OK });
			audit.ended(record, refusal);
			// grpc-js takes this as the end of a stream with a status.
			if (refusal) call.emit("error", refusal);
			else call.end();
		};
		acquireFor(call, record, options).then(finish, (error: unknown) => {
			// The caller is gone: there is no one to tell, and nothing is wrong here.
			if (!call.cancelled) watcher.failed("Acquire", error);
			finish(statusOfError(error));
		});
	};
}

async function acquireFor(
	call: AcquireCall,
	record: AuditRecord,
	options: AgentServiceOptions,
): Promise<Partial<StatusObject> | undefined> {
	const { gate, openCalls, findCaller } = options;
	const gone = new AbortController();
	// Also emitted after a regular end, when it has no effect any more.
	call.once("cancelled", () => gone.abort(new AgentUnavailableError("The caller went away", "")));
	const known = findCaller?.(call.metadata);
	const admission: Admission = known ? { kind: "admitted", caller: known } : await gate.admit(call);
	if (admission.kind === "refused") return admission.status;
	const { caller } = admission;
	record.caller = caller;
	const request = readAcquireRequest(call.request);
	limits.assertAcquire(request);
	record.budget = request.budget;
	record.details = { candidates: request.candidates.length, claimedHolder: request.holder };
	const refusal = await gate.authorize(caller, request.budget);
	if (refusal) return refusal;
	const end = openCalls.beginAcquire(caller, request.candidates.length);
	try {
		return await serveAcquire(call, { request, caller, record, gone: gone.signal }, options);
	} finally {
		end();
	}
}

async function serveAcquire(
	call: AcquireCall,
	{
		request,
		caller,
		record,
		gone,
	}: {
		readonly request: AcquireRequest;
		readonly caller: Caller;
		readonly record: AuditRecord;
		readonly gone: AbortSignal;
	},
	{ gate, watcher, held, stopping }: AgentServiceOptions,
): Promise<Partial<StatusObject> | undefined> {
	held.assertRoom(caller);
	const cluster = await gate.route(call.request.clusterId, call.metadata, caller);
	const respond = (outcome: NonNullable<wire.AcquireResponse["outcome"]>): wire.AcquireResponse => ({
		clusterId: cluster.id,
		outcome,
	});
	// The count may take long, so headers tell the caller soon that its call is being served: see gathered-answers.ts.
	call.sendMetadata(new Metadata());
	const sent = Promise.withResolvers<void>();
	let hasWaited = false;
	const outcome = await cluster.acquire(request, {
		wait: call.request.wait,
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
	if (!outcome.acquisition.unwritten) held.begin(caller, cluster, outcome.acquisition);
	const giveBack = async (): Promise<void> => {
		held.end(outcome.acquisition);
		await cluster.release(outcome.acquisition);
	};
	if (hasWaited) {
		const refusal = await refusalAfterWait(call, gate, request).catch(async (error: unknown) => {
			await giveBack();
			throw error;
		});
		if (refusal) {
			await giveBack();
			return refusal;
		}
	}
	record.details = { ...record.details, transitions: outcome.acquisition.leaseTransitions };
	const message = respond({ $case: "acquired", value: acquiredMessage(outcome) });
	if (await delivered(call, message, gone)) sent.resolve();
	else await giveBack();
	return undefined;
}

/** While it waited in line, the member may have left the fleet, or its token or right may have ended. */
async function refusalAfterWait(
	call: AcquireCall,
	gate: Gate,
	{ budget }: AcquireRequest,
): Promise<Partial<StatusObject> | undefined> {
	const admission = await gate.admit(call);
	return admission.kind === "refused" ? admission.status : gate.authorize(admission.caller, budget);
}

/** Whether the message was passed to the connection before the caller was seen to be gone. */
function delivered(call: AcquireCall, message: wire.AcquireResponse, gone: AbortSignal): Promise<boolean> {
	return new Promise((resolve) => {
		if (gone.aborted || call.cancelled) {
			resolve(false);
			return;
		}
		gone.addEventListener("abort", () => resolve(false), { once: true });
		call.write(message, () => resolve(true));
	});
}

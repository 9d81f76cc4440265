// Judges the caller when the headers of a call arrive, before any part of the message is read.
//
// Guarantee: a caller that is not admitted is refused, or ignored if its connection is about to be closed. Either way, it costs at most 128
// KB, which HTTP/2 lets it send unread (measured: a window of 64 KB, twice). Messages of admitted callers are read a few at a time, and
// each must arrive within 5 s.
import {
	type Metadata,
	ServerInterceptingCall,
	type ServerInterceptor,
	type StatusObject,
	status,
} from "@grpc/grpc-js";
import { AgentUnavailableError } from "../../disruption/errors.ts";
import { statusOfError } from "../../proto/status.ts";
import type { Clock } from "../process/clock.ts";
import type { Connections } from "../process/connections.ts";
import type { AuditLog } from "./audit-log.ts";
import { CallRecord } from "./call-record.ts";
import type { CallWatcher } from "./call-watcher.ts";
import type { Caller } from "../peers/caller.ts";
import { admissionMs, type CallerDeadlines } from "./caller-deadlines.ts";
import type { Gate } from "./gate.ts";
import { partyOf } from "./open-calls.ts";
import type { ReadingSlots } from "./reading-slots.ts";

interface HeaderAdmissionOptions {
	readonly gate: Pick<Gate, "admit" | "port">;
	readonly watcher: Pick<CallWatcher, "answered" | "failed">;
	readonly audit: AuditLog;
	readonly connections: Pick<Connections, "admitted" | "isEnding" | "refused">;
	readonly reading: Pick<ReadingSlots, "take">;
	/** Tells callers in time that the API server is silent. If left out, calls wait for their own timeout. */
	readonly deadlines?: Pick<CallerDeadlines, "watch"> | undefined;
	readonly clock: Pick<Clock, "now" | "after">;
	/** For messages. */
	readonly cluster: string;
}

export interface HeaderAdmission {
	readonly interceptor: ServerInterceptor;
	/** Returns undefined if the call did not come through the interceptor. */
	findCaller(metadata: Metadata): Caller | undefined;
}

/** Enough for the longest valid message, 1.2 MB, over 2 Mbit/s. */
const readWithinMs = 5_000;

/** A caller that wants an answer does not cancel this soon. */
const takenBackAtOnceMs = 100;

export function createHeaderAdmission(options: HeaderAdmissionOptions): HeaderAdmission {
	const { gate, watcher, audit, connections, deadlines, reading, clock, cluster } = options;
	// grpc-js passes the same Metadata object to the handler.
	const callers = new WeakMap<Metadata, Caller>();
	const unavailable = (why: string) =>
		statusOfError(new AgentUnavailableError(`cannot read the message in cluster "${cluster}": ${why}`, cluster));
	const interceptor: ServerInterceptor = (method, call) => {
		const cameAt = clock.now();
		const name = method.path.split("/").at(-1) ?? "";
		const peer = call.getPeer();
		const record = new CallRecord({ method: name, port: gate.port, watcher, audit });
		let isOver = false;
		let stopClock = (): void => undefined;
		let freeSlot = (): void => undefined;
		let stopWatching = (): void => undefined;
		const over = (): void => {
			isOver = true;
			stopClock();
			freeSlot();
			stopWatching();
		};
		const refuse = ({ code = status.INTERNAL, details = "", metadata }: Partial<StatusObject>): void => {
			if (isOver) return;
			over();
			connections.refused(peer);
			record.end({ code, details });
			call.sendStatus({ code, details, ...(metadata && { metadata }) });
		};
		const read = (metadata: Metadata, admitted: Caller, pass: (metadata: Metadata) => void): void => {
			stopWatching();
			record.caller = admitted;
			callers.set(metadata, admitted);
			connections.admitted(peer, partyOf(admitted));
			// By token, so that people who share an account do not use up each other's slots.
			const slot = reading.take(admitted.kind === "token" ? admitted.tokenHash : admitted.member, () => {
				stopClock = clock.after(readWithinMs, () =>
					refuse(unavailable(`it did not arrive within ${readWithinMs / 1000} s`)),
				);
				pass(metadata);
			});
			if (!slot) refuse(unavailable("too many others are being read; it may be sent again"));
			else if (isOver) slot();
			else freeSlot = slot;
		};
		return new ServerInterceptingCall(call, {
			start(next) {
				next({
					onReceiveMetadata(metadata, pass) {
						// The connection is about to be closed. Its calls may come in thousands and end with it, so they are ignored.
						if (connections.isEnding(peer)) {
							connections.refused(peer);
							return;
						}
						const incoming = {
							metadata,
							getAuthContext: () => call.getAuthContext(),
							getPath: () => method.path,
							getPeer: () => peer,
						};
						const watched = { name, call, withinMs: admissionMs };
						const tell = (error: Error): void => refuse(statusOfError(error));
						if (deadlines) stopWatching = deadlines.watch(watched, tell);
						gate.admit(incoming).then(
							(admission) => {
								if (isOver) return;
								if (admission.kind === "refused") refuse(admission.status);
								else read(metadata, admission.caller, pass);
							},
							(error: unknown) => refuse(record.failed(error)),
						);
					},
					onReceiveHalfClose(pass) {
						over();
						pass();
					},
					onCancel() {
						// Calls that are cancelled at once cost as much as refused ones, so they count as refused. An expired deadline also
						// cancels, but later.
						const isAtOnce = clock.now() - cameAt < takenBackAtOnceMs;
						if (!isOver && !record.caller && isAtOnce) connections.refused(peer);
						over();
					},
				});
			},
		});
	};
	return { interceptor, findCaller: (metadata) => callers.get(metadata) };
}

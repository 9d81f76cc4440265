// A target for requests to the agent, through its real handlers and LocalCluster, over an API server in memory. Every answer can be sent,
// every refusal is clear, and the Leases stay readable.
import { EventEmitter } from "node:events";
import { Metadata, type StatusObject, status } from "@grpc/grpc-js";
import fc from "fast-check";
import { readLease } from "../../../agent/cluster-api/read-lease.ts";
import { createLogger } from "../../../agent/process/log.ts";
import { createMetrics } from "../../../agent/process/metrics.ts";
import { createAgentService } from "../../../agent/server/agent-service.ts";
import { createAuditLog } from "../../../agent/server/audit-log.ts";
import { CallPipeline } from "../../../agent/server/call-pipeline.ts";
import { createCallWatcher } from "../../../agent/server/call-watcher.ts";
import { createTokenGate } from "../../../agent/server/gate.ts";
import { HeldLeases } from "../../../agent/server/held-leases.ts";
import { OpenCalls } from "../../../agent/server/open-calls.ts";
import { maxAnnotationBytes, parseLease } from "../../../disruption/lease/lease.ts";
import type * as wire from "../../../proto/gen/xpdb/v1/agent.ts";
import { buildTokenCaller } from "../../support/build-caller.ts";
import { demandClearText } from "../clear-error.ts";
import { decoded, editedBytes, type MessageEdits, messageEdits } from "../edited-message.ts";
import { asyncTarget, demand, type FuzzTarget } from "../fuzz-target.ts";
import { openGarbledCluster, threePods, WorldServer } from "../garbled-world.ts";
import { answers, type Method, methods, requests } from "../seed-messages.ts";
import { podObject } from "../seed-objects.ts";

interface Step {
	readonly method: Method;
	readonly edits: MessageEdits;
}

type Handler = (call: unknown, callback?: (refusal: Partial<StatusObject> | null, response?: unknown) => void) => void;

/** Returns the answer, encoded and decoded as on the wire, or the refusal. */
function ask(service: wire.AgentServiceServer, method: Method, request: unknown): Promise<unknown> {
	const handler = service[method] as Handler;
	const metadata = new Metadata();
	const codec = answers[method].codec;
	return new Promise((resolve) => {
		const asked = {
			request,
			metadata,
			getAuthContext: () => ({}),
			getPath: () => "",
			getPeer: () => "",
			sendMetadata: () => undefined,
		};
		if (method !== "acquire") {
			handler(asked, (refusal, response) => resolve(refusal ?? codec.decode(codec.encode(response).finish())));
			return;
		}
		let last: unknown;
		const call = Object.assign(new EventEmitter(), {
			...asked,
			cancelled: false,
			write(message: wire.AcquireResponse, done?: () => void) {
				last = codec.decode(codec.encode(message).finish());
				done?.();
				// Cancels, because no caller waits in line here.
				if (message.outcome?.$case === "held") setImmediate(() => call.emit("cancelled"));
				return true;
			},
			end: () => resolve(last),
		});
		call.on("error", (refusal: Partial<StatusObject>) => resolve(refusal));
		handler(call);
	});
}

/** The pods that the requests name, because the agent reserves only pods that it sees. */
const grantedPods = ["db-4", "db-5"].map((name) => podObject(name, { extra: { uid: `uid-of-${name}` } }));
const spec = { selector: { matchLabels: { app: "db" } }, maxUnavailable: 1 };

export const requestTarget: FuzzTarget = {
	name: "grpc-request",
	reads: "decoded requests, by the agent's handlers over its own cluster",
	share: 0.3,
	open: () => {
		const metrics = createMetrics({ version: "0.2.0" });
		const log = createLogger("error", { write: () => undefined });
		const audit = createAuditLog(
			createLogger("error", { write: (line) => demand(line.length < 4_000, "A long audit line") }),
		);
		const whole: MessageEdits = { seed: 0, fields: [], bytes: [] };
		const step: fc.Arbitrary<Step> = fc.record({ method: fc.constantFrom(...methods), edits: messageEdits });
		const input = fc.record({
			// Most errors are possible only under a held Lease.
			acquires: fc.boolean(),
			steps: fc.array(step, { minLength: 1, maxLength: 3 }),
		});
		return asyncTarget(input, async ({ acquires, steps }) => {
			const server = new WorldServer({ pods: [...threePods, ...grantedPods], budgetSpec: spec }, "id-eu");
			const local = await openGarbledCluster(server.connection(), "eu-1", false);
			const watcher = createCallWatcher({ metrics, log });
			const stopping = new AbortController();
			const gate = createTokenGate({
				identity: { check: async () => ({ kind: "authenticated", caller: buildTokenCaller() }) },
				rights: { refusal: async () => undefined },
				local,
				member: () => Promise.reject(new Error("no other member is asked for")),
				others: async () => [Promise.resolve(local)],
			});
			const peer = {
				...gate,
				route: async (clusterId: string) =>
					gate.route(clusterId === "" ? "" : local.id, new Metadata(), buildTokenCaller()),
			};
			const openCalls = new OpenCalls("eu-1");
			const service = createAgentService({
				pipeline: new CallPipeline({ gate: peer, watcher, audit, openCalls }),
				watcher,
				openCalls,
				clock: { after: () => () => undefined },
				held: new HeldLeases({ now: () => 0, cluster: "eu-1" }),
				stopping: stopping.signal,
			});
			const all = acquires ? [{ method: "acquire", edits: whole } as const, ...steps] : steps;
			for (const { method, edits } of all) {
				const bytes = editedBytes(requests[method], edits);
				const request = bytes && decoded(requests[method].codec, bytes);
				if (request === undefined) continue;
				demandAnswer(method, await ask(service, method, request));
			}
			demandReadable(server);
		});
	},
};

function demandAnswer(method: Method, answer: unknown): void {
	if (typeof answer !== "object" || answer === null) return demand(false, `${method} has no answer`);
	if (!("code" in answer)) return;
	const { code, details } = answer as StatusObject;
	demand(
		code !== status.INTERNAL && code !== status.UNKNOWN && code !== status.OK,
		`${method} failed by a bug: ${details}`,
	);
	demandClearText(details);
}

/** Demands that no request made a Lease unreadable, or invalid for the API server. */
function demandReadable(server: WorldServer): void {
	for (const object of server.leases) {
		const lease = parseLease(readLease(object, "eu-1"));
		const bytes = Buffer.byteLength(JSON.stringify(lease.annotations));
		demand(bytes <= maxAnnotationBytes * 1.5, `A Lease has annotations of ${bytes} bytes`);
		for (const { name, id } of lease.state.reservations) {
			demand(/^[a-z0-9.-]{1,253}$/.test(name), "A reservation is for what can be no pod");
			demand(/^[A-Za-z0-9._:-]{1,64}$/.test(id), "A reservation has an id that is none");
		}
		for (const { apiVersion, kind, name } of lease.state.controllers) {
			const parts = [...apiVersion.split("/"), kind, name];
			demand(
				parts.length <= 4 && parts.every((part) => /^[A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?$/.test(part)),
				`A controller is remembered that can be none: ${parts.join(" ").slice(0, 200)}`,
			);
		}
	}
}

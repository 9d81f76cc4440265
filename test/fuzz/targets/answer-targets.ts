// Targets for agents' answers to the plugin and other agents, and for decisions from garbled counts.
import { EventEmitter } from "node:events";
import { Metadata, type ServiceError, status } from "@grpc/grpc-js";
import fc from "fast-check";
import type { Count } from "../../../disruption/budget/cluster.ts";
import { decide } from "../../../disruption/budget/decide.ts";
import {
	AgentForbiddenError,
	AgentProtocolError,
	AgentUnavailableError,
	GarbledLeaseError,
	InvalidBudgetError,
	LeaseLostError,
} from "../../../disruption/errors.ts";
import { isResourceVersion } from "../../../disruption/resource-version.ts";
import type * as wire from "../../../proto/gen/xpdb/v1/agent.ts";
import { RemoteCluster } from "../../../proto/remote-cluster.ts";
import { errorOfStatus, statusOfError } from "../../../proto/status.ts";
import { countMessage, readCount } from "../../../proto/wire-count.ts";
import { newCount, presentPod } from "../../support/build-count.ts";
import * as samples from "../../support/samples.ts";
import { attempt, attemptAsync, demandClearText } from "../clear-error.ts";
import { decoded, editedBytes, type MessageEdits, messageEdits } from "../edited-message.ts";
import { asyncTarget, demand, type FuzzTarget, syncTarget } from "../fuzz-target.ts";
import { read, slotsOf, write } from "../json-edits.ts";
import { oddText } from "../odd-values.ts";
import { acquisition, answers, type Method, methods } from "../seed-messages.ts";

export const documentedErrors = [
	AgentProtocolError,
	AgentUnavailableError,
	AgentForbiddenError,
	LeaseLostError,
	GarbledLeaseError,
	InvalidBudgetError,
];

interface SentStatus {
	readonly code: number;
	readonly details: string;
	readonly trailers: Readonly<Record<string, string>>;
}

export const sentStatus: fc.Arbitrary<SentStatus> = fc.record({
	code: fc.oneof(fc.integer({ min: 1, max: 16 }), fc.constantFrom(17, 99, -1)),
	details: fc.oneof(
		oddText,
		fc.constantFrom("cannot renew: taken over", "14 UNAVAILABLE", "Response message parsing error: x"),
	),
	trailers: fc.dictionary(
		fc.constantFrom("xpdb-reason", "xpdb-field", "xpdb-cluster"),
		fc.constantFrom(
			"LeaseLost",
			"InvalidBudget",
			"AgentUnavailable",
			"constructor",
			"",
			"%",
			"%E0%A4%A",
			"eu-2",
			"spec",
		),
	),
});

export function serviceError({ code, details, trailers }: SentStatus): ServiceError {
	const metadata = new Metadata();
	for (const [key, value] of Object.entries(trailers)) metadata.set(key, value);
	const error: unknown = Object.assign(new Error(`${code}: ${details}`), { code, details, metadata });
	return error as ServiceError;
}

type Answer =
	| { readonly kind: "message"; readonly edits: MessageEdits }
	| { readonly kind: "status"; readonly sent: SentStatus };

function createClient(method: Method, message: unknown, error: ServiceError | undefined): wire.AgentServiceClient {
	const unary = (_request: unknown, _metadata: unknown, _options: unknown, callback: (...args: unknown[]) => void) => {
		setImmediate(() => (error ? callback(error) : callback(null, message)));
		return Object.assign(new EventEmitter(), { cancel: () => undefined });
	};
	const acquire = () => {
		const call = Object.assign(new EventEmitter(), { cancel: () => undefined });
		setImmediate(() => {
			if (error) call.emit("error", error);
			else call.emit("data", message);
			call.emit("end");
		});
		return call;
	};
	return { [method]: method === "acquire" ? acquire : unary } as unknown as wire.AgentServiceClient;
}

const request = samples.acquireRequest;
const calls: Readonly<Record<Method, (cluster: RemoteCluster) => Promise<unknown>>> = {
	acquire: (cluster) => cluster.acquire(request, { wait: false, signal: new AbortController().signal }),
	count: (cluster) => cluster.count(acquisition, request),
	renew: (cluster) => cluster.renew(acquisition),
	commit: (cluster) => cluster.commit(acquisition, samples.grants),
	release: (cluster) => cluster.release(acquisition),
	confirm: (cluster) => cluster.confirm(samples.budget, ["grant-1"]),
	cancel: (cluster) => cluster.cancel(samples.budget, ["grant-1"], { sent: true }),
	listBudgets: (cluster) => cluster.listBudgets(["shop"]),
	listLeases: (cluster) => cluster.listLeases([samples.budget]),
	endHolding: (cluster) => cluster.endHolding({ budget: samples.budget, leaseUid: "lease-uid", transitions: 3 }),
	describe: (cluster) => cluster.describe(),
};

type Sent = { readonly clusterId: string; readonly stands?: boolean; readonly outcome?: { readonly $case: string } };

const answerTarget: FuzzTarget = {
	name: "grpc-answer",
	reads: "an agent's answers and statuses, read by the plugin and by other agents",
	share: 2,
	open: () => {
		const message = messageEdits.map((edits): Answer => ({ kind: "message", edits }));
		const error = sentStatus.map((sent): Answer => ({ kind: "status", sent }));
		const input = fc.record({
			method: fc.constantFrom(...methods),
			answer: fc.oneof({ weight: 4, arbitrary: message }, { weight: 1, arbitrary: error }),
		});
		return asyncTarget(input, async ({ method, answer }) => {
			let sent: unknown;
			if (answer.kind === "message") {
				const bytes = editedBytes(answers[method], answer.edits);
				sent = bytes && decoded(answers[method].codec, bytes);
				if (sent === undefined) return;
			}
			const failed = answer.kind === "status" ? serviceError(answer.sent) : undefined;
			const client = createClient(method, sent, failed);
			const cluster = new RemoteCluster({ id: samples.clusterId, name: "eu-1", client });
			// An agent's own refusal need not name the agent. An unreadable answer must name its cluster.
			const names = failed ? [] : ["eu-1"];
			const result = await attemptAsync(
				async () => ({ value: await calls[method](cluster) }),
				documentedErrors,
				...names,
			);
			if (!result) return;
			demand(!failed, "It took a failure for an answer");
			demandOwn(method, sent as Sent, result.value);
		});
	},
};

function demandOwn(method: Method, sent: Sent, value: unknown): void {
	demand(sent.clusterId === samples.clusterId, "It took the answer of another cluster");
	if (method === "confirm") demand(value === sent.stands, "It confirmed what was not");
	if (method === "commit") demand((value as { kind: string }).kind === sent.outcome?.$case, "It took another outcome");
	if (method === "count") demandCount(value as Count);
	if (method !== "acquire") return;
	const outcome = value as { kind: string; count?: Count; acquisition?: { nonce: string } };
	if (outcome.kind !== "acquired") return;
	demand(outcome.acquisition?.nonce === request.nonce, "It took what somebody else acquired");
	if (outcome.count) demandCount(outcome.count);
}

export function demandCount(count: Count): void {
	demand(count.clusterId === samples.clusterId, "It took the count of another cluster");
	demand(Number.isSafeInteger(count.healthy) && count.healthy >= 0, `It took ${count.healthy} healthy pods`);
	const { expected } = count;
	demand(
		expected.kind === "unknown" || (Number.isSafeInteger(expected.pods) && expected.pods >= 0),
		"It took pods that cannot be expected",
	);
	for (const state of count.candidates) {
		demand(state.pod.uid !== "", "It took a candidate without a uid");
		if (state.kind === "present")
			demand(isResourceVersion(state.resourceVersion), "It took a version that cannot be ordered");
	}
}

const memberIds = ["eu", "us"];
const candidate = { clusterId: "eu", pod: presentPod("db-0").pod };
/** Two of three pods are healthy, and the budget requires two. */
const counts = [
	newCount("eu", { healthy: 2, candidates: [presentPod("db-0")] }, memberIds),
	newCount("us", { healthy: 0, expected: { kind: "known", pods: 0 } }, memberIds),
];

/** Returns wrong values that the decoder could produce: out of range, malformed, or for a missing field. */
function garbageOf(value: unknown): readonly unknown[] {
	if (typeof value === "number") return [-1, -(2 ** 31), 0.5, Number.POSITIVE_INFINITY, 2 ** 60];
	if (typeof value === "string") return ["", "x", "{", "-", "\u0000", "9".repeat(60)];
	return Array.isArray(value) ? [] : [undefined];
}

const countTarget: FuzzTarget = {
	name: "count",
	reads: "garbled counts where nothing may go, by the decision",
	share: 1,
	open: () => {
		const grantable = decide(
			memberIds,
			[{ budget: counted, counts: counts.map((one) => ({ ...one, healthy: one.healthy + 1 })) }],
			[candidate],
		);
		if (grantable[0]?.kind !== "grantable") throw new Error("The pod that may go may not");
		const input = fc.record({ member: fc.nat(1), at: fc.nat(9_999), which: fc.nat(99) });
		return syncTarget(input, ({ member, at, which }) => {
			const messages = counts.map((count) => ({ count: structuredClone(countMessage(count)) }));
			const garbled = messages[member];
			const slots = slotsOf(garbled as never);
			const slot = slots[at % slots.length];
			// Skips the decoder's own key of a oneof, and its map, which may be empty but always exists.
			if (!slot || slot.key === "$case" || slot.key === "labels") return;
			// Messages in lists and oneofs are never undefined.
			const always = Array.isArray(slot.holder) || slot.key === "value";
			const garbage = always && typeof read(slot) === "object" ? [] : garbageOf(read(slot));
			if (garbage.length > 0) write(slot, garbage[which % garbage.length]);
			const readCounts = messages.map(({ count }) =>
				attempt(() => readCount(count, "count"), [AgentProtocolError], "count"),
			);
			if (readCounts.includes(undefined)) return;
			const [judgement] = decide(memberIds, [{ budget: counted, counts: readCounts as Count[] }], [candidate]);
			demand(judgement?.kind === "waiting" || judgement?.kind === "refused", `ALLOWED: it is ${judgement?.kind}`);
			demandClearText(judgement.message);
		});
	},
};

const counted = { name: { namespace: "shop", name: "db" }, selector: selectorOfCounts() };

function selectorOfCounts() {
	return { requirements: [{ key: "app", operator: "In" as const, values: ["db"] }] };
}

const statusTarget: FuzzTarget = {
	name: "status",
	reads: "errors as gRPC statuses, and back",
	share: 1,
	open: () => {
		const make = fc.constantFrom<((message: string, more: string) => Error)[]>(
			(message, more) => new InvalidBudgetError(message, more),
			(message) => new LeaseLostError(message),
			(message) => new GarbledLeaseError(message),
			(message, more) => new AgentUnavailableError(message, more),
			(message) => new AgentProtocolError(message),
			(message) => new AgentForbiddenError(message),
			(message) => new TypeError(message),
		);
		return syncTarget(fc.tuple(make, oddText, oddText), ([maker, message, more]) => {
			const error = maker(message, more);
			const { code = status.OK, details = "", metadata } = statusOfError(error);
			demand(code !== status.OK, "It took an error for an answer");
			// As grpc-js writes them. More than 64 KiB of trailers break the call.
			const bytes = encodeURI(details).length + JSON.stringify(metadata?.getMap() ?? {}).length;
			demand(bytes < 60_000, `The trailers have ${bytes} bytes`);
			const sent = Object.assign(new Error(details), { code, details, metadata: metadata ?? new Metadata() });
			const back = errorOfStatus(sent, { cluster: "eu-1", call: "Count" });
			demandClearText(back.message);
			if (error instanceof TypeError) {
				demand(message.length < 3 || !details.includes(message), "It shows a bug to the caller");
				return;
			}
			demand(back.constructor === error.constructor, `A ${error.name} comes back as a ${back.name}`);
		});
	},
};

export const answerTargets: readonly FuzzTarget[] = [answerTarget, countTarget, statusTarget];

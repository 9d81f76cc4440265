// Valid requests and answers of the agent's service, from which inputs are made.
import * as wire from "../../proto/gen/xpdb/v1/agent.ts";
import {
	acquisitionMessage,
	budgetNameMessage,
	commitOutcomeMessage,
	grantMessage,
	placeMessage,
} from "../../proto/wire.ts";
import {
	acquiredMessage,
	acquireMessage,
	budgetListMessage,
	countCallMessage,
	countResponseMessage,
} from "../../proto/wire-calls.ts";
import { descriptionMessage } from "../../proto/wire-description.ts";
import { leaseListMessage } from "../../proto/wire-leases.ts";
import { updateMessage } from "../../proto/wire-watch.ts";
import * as samples from "../support/samples.ts";
import type { Json } from "./odd-values.ts";

export interface Codec<T = unknown> {
	encode(message: T): { finish(): Uint8Array };
	decode(bytes: Uint8Array): T;
	fromJSON(value: unknown): T;
	toJSON(message: T): unknown;
}

export interface SeedMessages {
	readonly codec: Codec;
	/** As protobuf JSON. */
	readonly seeds: readonly Json[];
}

function seedsOf<T>(codec: Codec<T>, ...messages: readonly T[]): SeedMessages {
	return { codec, seeds: messages.map((message) => codec.toJSON(message) as Json) };
}

const { acquireRequest, budget, clusterId, description, grants } = samples;
/** The first acquisition when there is no Lease yet. */
export const acquisition = { budget, leaseUid: "new-uid", leaseTransitions: 1, nonce: "nonce-1" };
const held = acquisitionMessage(acquisition);
const name = budgetNameMessage(budget);

export const requests = {
	acquire: seedsOf(
		wire.AcquireRequest,
		acquireMessage(acquireRequest, { clusterId: "", wait: false }),
		acquireMessage(acquireRequest, { clusterId: "", wait: true }),
	),
	count: seedsOf(
		wire.CountRequest,
		countCallMessage("", { kind: "again", acquisition, request: acquireRequest }),
		countCallMessage("", { kind: "look", request: acquireRequest }),
	),
	renew: seedsOf(wire.RenewRequest, { clusterId: "", acquisition: held }),
	commit: seedsOf(wire.CommitRequest, { clusterId: "", acquisition: held, grants: grants.map(grantMessage) }),
	release: seedsOf(wire.ReleaseRequest, { clusterId: "", acquisition: held }),
	confirm: seedsOf(wire.ConfirmRequest, { clusterId: "", budget: name, ids: ["grant-1"] }),
	cancel: seedsOf(wire.CancelRequest, { clusterId: "", budget: name, ids: ["grant-1", "grant-2"], sent: false }),
	listBudgets: seedsOf(wire.ListBudgetsRequest, { clusterId: "", namespaces: ["shop"] }),
	listLeases: seedsOf(wire.ListLeasesRequest, { clusterId: "", budgets: [name, { namespace: "shop", name: "" }] }),
	endHolding: seedsOf(wire.EndHoldingRequest, { clusterId: "", budget: name, leaseUid: "new-uid", transitions: 1 }),
	describe: seedsOf(
		wire.DescribeRequest,
		{ clusterId: "", budgetsOf: undefined, others: false },
		{ clusterId: "", budgetsOf: { names: ["shop"] }, others: true },
	),
} as const;

export type Method = keyof typeof requests;
export const methods = Object.keys(requests) as Method[];

export const answers: Readonly<Record<Method, SeedMessages>> = {
	acquire: seedsOf(
		wire.AcquireResponse,
		{
			clusterId,
			outcome: {
				$case: "acquired",
				value: acquiredMessage({
					...samples.acquired,
					acquisition: { ...samples.acquisition, nonce: acquireRequest.nonce },
				}),
			},
		},
		{ clusterId, outcome: { $case: "held", value: placeMessage({ position: 2, holder: "drain-8a", heldForMs: 12 }) } },
	),
	count: seedsOf(wire.CountResponse, countResponseMessage(samples.count)),
	renew: seedsOf(wire.RenewResponse, { clusterId }),
	commit: seedsOf(
		wire.CommitResponse,
		{ clusterId, outcome: commitOutcomeMessage({ kind: "stood" }) },
		{ clusterId, outcome: commitOutcomeMessage({ kind: "lost", reason: "taken over" }) },
		{ clusterId, outcome: commitOutcomeMessage({ kind: "full", reservations: 1_500 }) },
	),
	release: seedsOf(wire.ReleaseResponse, { clusterId }),
	confirm: seedsOf(wire.ConfirmResponse, { clusterId, stands: true }, { clusterId, stands: false }),
	cancel: seedsOf(wire.CancelResponse, { clusterId }),
	listBudgets: seedsOf(
		wire.ListBudgetsResponse,
		budgetListMessage({ clusterId, fleetHash: "5f", budgets: samples.count.budgets }),
	),
	endHolding: seedsOf(wire.EndHoldingResponse, { clusterId, ended: true }),
	listLeases: seedsOf(wire.ListLeasesResponse, leaseListMessage(clusterId, samples.leases)),
	describe: seedsOf(
		wire.DescribeResponse,
		descriptionMessage(description),
		descriptionMessage({ ...description, unresolved: [{ id: "id-9", name: "us-1" }] }),
		descriptionMessage(samples.fullDescription),
		descriptionMessage(samples.introduction),
	),
};

export const watchMessages: SeedMessages = seedsOf(
	wire.WatchBudgetsResponse,
	updateMessage(clusterId, {
		changed: [
			{ budget: { name: budget, spec: null }, state: { ...samples.count, candidates: [] } },
			{
				budget: { name: { namespace: "shop", name: "web" }, spec: {} },
				state: { unknown: "no permission for this budget" },
			},
		],
		gone: [{ namespace: "shop", name: "old" }],
		complete: true,
	}),
	updateMessage(clusterId, {
		changed: [],
		gone: [],
		complete: true,
		histories: [{ budget, lastAt: 1_795_000_020, everySeconds: 60, healthy: [3, 2, undefined, 0, 3] }],
	}),
	updateMessage(clusterId, { changed: [], gone: [], complete: false, unknown: "its fleet cannot be read" }),
);

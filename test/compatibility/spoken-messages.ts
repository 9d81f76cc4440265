// Every message of the service with all its fields, as today's programs write it, and a function that writes again what they understand.
import * as wire from "../../proto/gen/xpdb/v1/agent.ts";
import { readGreeting } from "../../proto/greet.ts";
import {
	acquisitionMessage,
	budgetNameMessage,
	commitOutcomeMessage,
	grantMessage,
	placeMessage,
	readAcquisition,
	readBudgetName,
	readCommitOutcome,
	readGrant,
	readPlace,
} from "../../proto/wire.ts";
import * as calls from "../../proto/wire-calls.ts";
import { required } from "../../proto/fields.ts";
import { readCount } from "../../proto/wire-count.ts";
import { descriptionMessage, readIntroduction } from "../../proto/wire-description.ts";
import { leaseListMessage, leaseScopesMessage, readLeaseList, readLeaseScopes } from "../../proto/wire-leases.ts";
import { readUpdate, updateMessage } from "../../proto/wire-watch.ts";
import * as samples from "../support/samples.ts";
import { answers, type Codec, requests, type SeedMessages, watchMessages } from "../fuzz/seed-messages.ts";
import type { Json } from "../fuzz/odd-values.ts";

export interface SpokenMessage {
	readonly codec: Codec;
	/** As protobuf JSON. */
	readonly samples: readonly Json[];
	/** Reads the message, and returns the result as a message again. Throws AgentProtocolError if it is refused. */
	readonly again: (message: never) => unknown;
}

function spoken<T>(codec: Codec<T>, seeds: SeedMessages | readonly Json[], again: (message: T) => T): SpokenMessage {
	return { codec, samples: "seeds" in seeds ? seeds.seeds : seeds, again };
}

const { clusterId } = samples;
const sameAcquisition = (message: wire.Acquisition | undefined) =>
	acquisitionMessage(readAcquisition(message, "acquisition"));
const sameBudget = (message: wire.BudgetName | undefined) => budgetNameMessage(readBudgetName(message, "budget"));
/** For messages with only IDs and facts that callers check themselves. */
const same = <T>(message: T): T => message;

export const spokenMessages: Readonly<Record<string, SpokenMessage>> = {
	DescribeRequest: spoken(
		wire.DescribeRequest,
		[{ clusterId }, { clusterId, budgetsOf: { names: ["shop"] }, others: true }],
		same,
	),
	DescribeResponse: spoken(wire.DescribeResponse, answers.describe, (message) =>
		descriptionMessage(readIntroduction(message)),
	),
	AcquireRequest: spoken(
		wire.AcquireRequest,
		[
			...withCluster(requests.acquire),
			wire.AcquireRequest.toJSON(
				calls.acquireMessage({ ...samples.acquireRequest, mayBeUnwritten: true }, { clusterId, wait: false }),
			) as Json,
		],
		(message) => calls.acquireMessage(calls.readAcquireRequest(message), message),
	),
	AcquireResponse: spoken(wire.AcquireResponse, answers.acquire, (message): wire.AcquireResponse => {
		const outcome = required(message.outcome, "outcome");
		if (outcome.$case === "held") {
			return { ...message, outcome: { $case: "held", value: placeMessage(readPlace(outcome.value, "held")) } };
		}
		const value = calls.acquiredMessage(calls.readAcquired(outcome.value));
		return { ...message, outcome: { $case: "acquired", value } };
	}),
	CountRequest: spoken(
		wire.CountRequest,
		[
			...withCluster(requests.count),
			wire.CountRequest.toJSON(
				calls.countCallMessage(clusterId, {
					kind: "look",
					request: { ...samples.acquireRequest, thisBudgetAlone: true },
				}),
			) as Json,
		],
		(message) => calls.countCallMessage(message.clusterId, calls.readCountCall(message)),
	),
	CountResponse: spoken(
		wire.CountResponse,
		[
			...answers.count.seeds,
			wire.CountResponse.toJSON(
				calls.countResponseMessage({
					...samples.count,
					expected: { kind: "unknown", reason: "Job has no scale", settles: true },
					candidates: samples.candidates.map((state) =>
						state.kind === "present" ? { ...state, unexpected: "it is of no controller" } : state,
					),
				}),
			) as Json,
		],
		(message) => ({
			...calls.countResponseMessage(readCount(message.count, "count")),
			clusterId: message.clusterId,
		}),
	),
	RenewRequest: spoken(wire.RenewRequest, withCluster(requests.renew), (message) => ({
		...message,
		acquisition: sameAcquisition(message.acquisition),
	})),
	RenewResponse: spoken(wire.RenewResponse, answers.renew, same),
	CommitRequest: spoken(
		wire.CommitRequest,
		[
			...withCluster(requests.commit),
			wire.CommitRequest.toJSON({
				clusterId,
				acquisition: acquisitionMessage(samples.unwrittenAcquisition),
				grants: samples.grants.map(grantMessage),
			}) as Json,
		],
		(message) => ({
			...message,
			acquisition: sameAcquisition(message.acquisition),
			grants: message.grants.map((grant, index) => grantMessage(readGrant(grant, `grants[${index}]`))),
		}),
	),
	CommitResponse: spoken(
		wire.CommitResponse,
		[
			...answers.commit.seeds,
			{ clusterId, full: { reservations: 3, controllers: 900 } },
			{ clusterId, stood: { leftOut: [{ uid: "uid-db-0", why: "Gone" }] } },
		],
		(message) => ({ ...message, outcome: commitOutcomeMessage(readCommitOutcome(message.outcome)) }),
	),
	ReleaseRequest: spoken(wire.ReleaseRequest, withCluster(requests.release), (message) => ({
		...message,
		acquisition: sameAcquisition(message.acquisition),
	})),
	ReleaseResponse: spoken(wire.ReleaseResponse, answers.release, same),
	ConfirmRequest: spoken(wire.ConfirmRequest, withCluster(requests.confirm), (message) => ({
		...message,
		budget: sameBudget(message.budget),
	})),
	ConfirmResponse: spoken(wire.ConfirmResponse, answers.confirm, same),
	CancelRequest: spoken(wire.CancelRequest, withCluster(requests.cancel), (message) => ({
		...message,
		budget: sameBudget(message.budget),
		sent: required(message.sent, "sent"),
	})),
	CancelResponse: spoken(wire.CancelResponse, answers.cancel, same),
	ListBudgetsRequest: spoken(wire.ListBudgetsRequest, withCluster(requests.listBudgets), same),
	ListBudgetsResponse: spoken(wire.ListBudgetsResponse, answers.listBudgets, (message) =>
		calls.budgetListMessage(calls.readBudgetList(message)),
	),
	WatchBudgetsRequest: spoken(wire.WatchBudgetsRequest, [{ clusterId, namespaces: ["shop"] }], same),
	WatchBudgetsResponse: spoken(wire.WatchBudgetsResponse, watchMessages, (message) =>
		updateMessage(message.clusterId, readUpdate(message)),
	),
	ListLeasesRequest: spoken(wire.ListLeasesRequest, withCluster(requests.listLeases), (message) => ({
		...message,
		budgets: leaseScopesMessage(readLeaseScopes(message.budgets)),
	})),
	ListLeasesResponse: spoken(wire.ListLeasesResponse, answers.listLeases, (message) =>
		leaseListMessage(message.clusterId, readLeaseList(message)),
	),
	EndHoldingRequest: spoken(wire.EndHoldingRequest, withCluster(requests.endHolding), (message) => ({
		...message,
		budget: sameBudget(message.budget),
	})),
	EndHoldingResponse: spoken(wire.EndHoldingResponse, answers.endHolding, same),
	GreetRequest: spoken(
		wire.GreetRequest,
		[{ clusterId, fromId: "id-2", fromName: "us-1", memberIds: [clusterId, "id-2"] }],
		(message) => {
			const { id, name, memberIds } = readGreeting(message);
			return { clusterId: message.clusterId, fromId: id, fromName: name, memberIds: [...memberIds] };
		},
	),
	GreetResponse: spoken(
		wire.GreetResponse,
		[{ clusterId, clusterName: "eu-1", memberIds: [clusterId], listed: true, forgotten: true }],
		same,
	),
};

function withCluster({ seeds }: SeedMessages): readonly Json[] {
	return seeds.map((seed) => ({ ...(seed as { readonly [key: string]: Json }), clusterId }));
}

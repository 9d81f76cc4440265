// Defines the calls of AgentService: what each reads and checks, which rights it needs, and how it is answered. Every call passes the steps
// of call-pipeline.ts.
import type { Count } from "../../disruption/budget/cluster.ts";
import { AgentProtocolError } from "../../disruption/errors.ts";
import type { AgentCluster } from "../../proto/agent-cluster.ts";
import { required, wholeNumber } from "../../proto/fields.ts";
import type * as wire from "../../proto/gen/xpdb/v1/agent.ts";
import { commitOutcomeMessage, readAcquisition, readBudgetName, readGrant } from "../../proto/wire.ts";
import { budgetListMessage, countResponseMessage, readCountCall } from "../../proto/wire-calls.ts";
import { descriptionMessage } from "../../proto/wire-description.ts";
import { leaseListMessage, readLeaseScopes } from "../../proto/wire-leases.ts";
import type { GreetingReceiver } from "../peers/greetings.ts";
import type { RouteOptions } from "../peers/peers.ts";
import type { Clock } from "../process/clock.ts";
import { handleAcquire } from "./acquire-handler.ts";
import type { AdmittedCall, CallPipeline } from "./call-pipeline.ts";
import type { CallWatcher } from "./call-watcher.ts";
import { handleGreet } from "./greet-handler.ts";
import type { HeldLeases } from "./held-leases.ts";
import { describeWithPeers } from "./describe-with-peers.ts";
import type { OpenCalls } from "./open-calls.ts";
import * as limits from "./request-limits.ts";
import { handleWatch } from "./watch-handler.ts";

export interface AgentServiceOptions {
	readonly pipeline: CallPipeline;
	readonly watcher: Pick<CallWatcher, "acquired" | "committed">;
	readonly openCalls: Pick<OpenCalls, "beginAcquire" | "beginWatch">;
	readonly held: HeldLeases;
	/** If left out, no cluster may greet. */
	readonly greetings?: GreetingReceiver | undefined;
	readonly clock: Pick<Clock, "after">;
	/** Aborts when the agent stops, which ends watches and waiting Acquires. */
	readonly stopping: AbortSignal;
}

export function createAgentService(options: AgentServiceOptions): wire.AgentServiceServer {
	const { pipeline, watcher, openCalls, held, greetings, clock, stopping } = options;
	return {
		greet: pipeline.unary("Greet", (request: wire.GreetRequest) => ({
			budget: undefined,
			answer: ({ caller }) => handleGreet(request, caller, greetings),
		})),
		acquire: pipeline.stream("Acquire", (request: wire.AcquireRequest) =>
			handleAcquire(request, { openCalls, held, watcher, stopping }),
		),
		watchBudgets: pipeline.stream("WatchBudgets", (request: wire.WatchBudgetsRequest) =>
			handleWatch(request, { openCalls, clock, stopping }),
		),
		describe: pipeline.unary("Describe", (request: wire.DescribeRequest) => {
			const budgetsOf = request.budgetsOf?.names;
			limits.assertNamespaces(budgetsOf ?? []);
			const asksOthers = request.others && request.clusterId === "";
			return {
				budget: undefined,
				answer: fromCluster(async (cluster, { others }) => {
					const asked = { budgetsOf, others: asksOthers ? others() : Promise.resolve([]), clock };
					return descriptionMessage(await describeWithPeers(cluster, asked));
				}),
			};
		}),
		listBudgets: pipeline.unary("ListBudgets", ({ namespaces }: wire.ListBudgetsRequest) => {
			limits.assertNamespaces(namespaces);
			return {
				budget: undefined,
				answer: fromCluster(async (cluster) => budgetListMessage(await cluster.listBudgets(namespaces))),
			};
		}),
		listLeases: pipeline.unary("ListLeases", (request: wire.ListLeasesRequest) => {
			const scopes = readLeaseScopes(request.budgets);
			limits.assertScopes(scopes);
			return {
				budget: undefined,
				scopes: scopes.length > 0 ? scopes : [{ namespace: "" }],
				answer: fromCluster(async (cluster) => leaseListMessage(cluster.id, await cluster.listLeases(scopes))),
			};
		}),
		endHolding: pipeline.unary("EndHolding", (request: wire.EndHoldingRequest) => {
			const budget = readCheckedBudget(request);
			limits.assertLeaseUid(request.leaseUid);
			const transitions = wholeNumber(request.transitions, "transitions");
			return {
				budget,
				verb: "release",
				details: { transitions },
				answer: fromCluster(async (cluster, { record }) => {
					const ended = await cluster.endHolding({ budget, leaseUid: request.leaseUid, transitions });
					record.outcome = ended ? "ended" : "not held";
					return { clusterId: cluster.id, ended };
				}),
			};
		}),
		count: pipeline.unary("Count", (request: wire.CountRequest) => {
			const asked = readCountCall(request);
			const { budget } = asked.request;
			limits.assertQuestion(asked.request);
			if (asked.kind === "look") {
				const { request: question } = asked;
				return { budget, answer: counting((cluster) => cluster.look(question)) };
			}
			limits.assertAcquisition(asked.acquisition);
			const { budget: acquired } = asked.acquisition;
			// The right to one budget is not a right to the Lease of another.
			if (acquired.name !== budget.name || acquired.namespace !== budget.namespace) {
				throw new AgentProtocolError("cannot serve the request: acquisition.budget is not the budget to count for");
			}
			return { budget, answer: counting((cluster) => cluster.count(asked.acquisition, asked.request)) };
		}),
		renew: pipeline.unary("Renew", (request: wire.RenewRequest) => {
			const acquisition = readCheckedAcquisition(request);
			return {
				budget: acquisition.budget,
				answer: fromCluster(
					async (cluster) => {
						held.renew(acquisition);
						await cluster.renew(acquisition);
						return { clusterId: cluster.id };
					},
					{ renews: true },
				),
			};
		}),
		commit: pipeline.unary("Commit", (request: wire.CommitRequest) => {
			const acquisition = readCheckedAcquisition(request);
			const grants = request.grants.map((grant, index) => readGrant(grant, `grants[${index}]`));
			limits.assertGrants(acquisition, grants);
			return {
				budget: acquisition.budget,
				details: { grants: grants.length, transitions: acquisition.leaseTransitions },
				answer: fromCluster(async (cluster, { record }) => {
					const outcome = await cluster.commit(acquisition, grants);
					watcher.committed(outcome, grants.length);
					if (outcome.kind !== "full") held.end(acquisition);
					record.outcome = outcome.kind;
					return { clusterId: cluster.id, outcome: commitOutcomeMessage(outcome) };
				}),
			};
		}),
		release: pipeline.unary("Release", (request: wire.ReleaseRequest) => {
			const acquisition = readCheckedAcquisition(request);
			return {
				budget: acquisition.budget,
				answer: fromCluster(async (cluster) => {
					await cluster.release(acquisition);
					held.end(acquisition);
					return { clusterId: cluster.id };
				}),
			};
		}),
		confirm: pipeline.unary("Confirm", (request: wire.ConfirmRequest) => {
			const budget = readCheckedBudget(request);
			limits.assertIds(request.ids);
			return {
				budget,
				answer: fromCluster(async (cluster) => ({
					clusterId: cluster.id,
					stands: await cluster.confirm(budget, request.ids),
				})),
			};
		}),
		cancel: pipeline.unary("Cancel", (request: wire.CancelRequest) => {
			const budget = readCheckedBudget(request);
			limits.assertIds(request.ids);
			const sent = required(request.sent, "sent");
			return {
				budget,
				details: { ids: request.ids.length, sent },
				answer: fromCluster(async (cluster, { record }) => {
					await cluster.cancel(budget, request.ids, { sent });
					record.outcome = "cancelled";
					return { clusterId: cluster.id };
				}),
			};
		}),
	};
}

function fromCluster<Answer>(
	answer: (cluster: AgentCluster, call: AdmittedCall) => Promise<Answer>,
	options?: RouteOptions,
): (call: AdmittedCall) => Promise<Answer> {
	return async (call) => answer(await call.route(options), call);
}

function counting(
	count: (cluster: AgentCluster) => Promise<Count>,
): (call: AdmittedCall) => Promise<wire.CountResponse> {
	return async (call) => {
		call.sendHeaders();
		return countResponseMessage(await count(await call.route()));
	};
}

function readCheckedAcquisition(request: { readonly acquisition: wire.Acquisition | undefined }) {
	const acquisition = readAcquisition(request.acquisition, "acquisition");
	limits.assertAcquisition(acquisition);
	return acquisition;
}

function readCheckedBudget(request: { readonly budget: wire.BudgetName | undefined }) {
	const budget = readBudgetName(request.budget, "budget");
	limits.assertBudget(budget);
	return budget;
}

// The calls of AgentService: admit the caller, check the request, check the caller's right, and let the right cluster answer. Every failure
// becomes a status. An error that is not a domain error is a bug: it is reported here and not shown to callers.
import type { handleUnaryCall, ServerUnaryCall, StatusObject } from "@grpc/grpc-js";
import { Metadata, status } from "@grpc/grpc-js";
import type { BudgetName } from "../../disruption/budget/budget.ts";
import { AgentProtocolError } from "../../disruption/errors.ts";
import type { AgentCluster } from "../../proto/agent-cluster.ts";
import { required, wholeNumber } from "../../proto/fields.ts";
import type * as wire from "../../proto/gen/xpdb/v1/agent.ts";
import type { BudgetScope } from "../../proto/listed-lease.ts";
import { statusOfError } from "../../proto/status.ts";
import { commitOutcomeMessage, readAcquisition, readBudgetName, readGrant } from "../../proto/wire.ts";
import { budgetListMessage, countResponseMessage, readCountCall } from "../../proto/wire-calls.ts";
import { descriptionMessage } from "../../proto/wire-description.ts";
import { leaseListMessage, readLeaseScopes } from "../../proto/wire-leases.ts";
import { createAcquireHandler } from "./acquire-handler.ts";
import type { AuditDetails, AuditRecord } from "./audit-log.ts";
import type { Admission } from "../peers/caller.ts";
import { createGreetHandler } from "./greet-handler.ts";
import type { BudgetVerb } from "./identity.ts";
import { introduce } from "./introduction.ts";
import * as limits from "./request-limits.ts";
import type { AgentServiceOptions } from "./service-options.ts";
import { createWatchHandler } from "./watch-handler.ts";

/** A request that was read and found valid. */
interface Question<Response> {
	/** The budget of the request: the caller needs the right to it. Undefined if any verified caller may call. */
	readonly budget: BudgetName | undefined;
	/** The budgets of a request that may have several: the caller needs the right to each of them. */
	readonly scopes?: readonly BudgetScope[];
	/** The right that is needed; by default the right to decide. */
	readonly verb?: BudgetVerb;
	/** For the audit line. */
	readonly details?: AuditDetails;
	readonly answer: (
		cluster: AgentCluster,
		others: () => Promise<readonly Promise<AgentCluster>[]>,
	) => Promise<Response>;
	/** The name of an answer in the audit line. */
	readonly outcome?: (response: Response) => string;
	/** It may take as long as a count: headers tell the caller soon that its call is being served. */
	readonly takesLong?: boolean;
	/** It keeps a Lease for which another caller may be waiting, so it must not wait for anything that may take long. */
	readonly renews?: boolean;
}

export function createAgentService(options: AgentServiceOptions): wire.AgentServiceServer {
	const { gate, watcher, audit, openCalls, held, findCaller, deadlines, clock } = options;
	const serve = <Request extends { readonly clusterId: string }, Response>(
		name: string,
		read: (request: Request) => Question<Response>,
	): handleUnaryCall<Request, Response> => {
		return (call, callback) => {
			const startedAt = performance.now();
			const record: AuditRecord = { method: name, port: gate.port, cluster: call.request.clusterId };
			let isAnswered = false;
			const finish = (refusal: Partial<StatusObject> | undefined, response?: Response): void => {
				if (isAnswered) return;
				isAnswered = true;
				stopWatching?.();
				watcher.answered({ name, port: gate.port, startedAt, code: refusal?.code ?? status.OK });
				audit.ended(record, refusal);
				if (refusal) callback(refusal);
				else callback(null, response);
			};
			const stopWatching = deadlines?.watch({ call, name }, (error) => finish(statusOfError(error)));
			answerCall(call, record).then(
				({ refusal, response }) => finish(refusal, response),
				(error: unknown) => {
					watcher.failed(name, error);
					finish(statusOfError(error));
				},
			);
		};
		async function answerCall(
			call: ServerUnaryCall<Request, Response>,
			record: AuditRecord,
		): Promise<{ refusal?: Partial<StatusObject>; response?: Response }> {
			const known = findCaller?.(call.metadata);
			const admission: Admission = known ? { kind: "admitted", caller: known } : await gate.admit(call);
			if (admission.kind === "refused") return { refusal: admission.status };
			const { request } = call;
			const { caller } = admission;
			record.caller = caller;
			const { budget, scopes, verb, details, answer, outcome, takesLong = false, renews = false } = read(request);
			Object.assign(record, budget && { budget }, details && { details });
			for (const scope of scopes ?? (budget ? [budget] : [])) {
				const refusal = await gate.authorize(caller, scope, verb);
				if (refusal) return { refusal };
			}
			if (takesLong) call.sendMetadata(new Metadata());
			const end = openCalls.begin(caller);
			try {
				const cluster = await gate.route(request.clusterId, call.metadata, caller, { renews });
				const response = await answer(cluster, () => gate.others(caller));
				if (outcome) record.outcome = outcome(response);
				return { response };
			} finally {
				end();
			}
		}
	};
	return {
		greet: createGreetHandler(options),
		acquire: createAcquireHandler(options),
		watchBudgets: createWatchHandler(options),
		describe: serve("Describe", (request: wire.DescribeRequest) => {
			const budgetsOf = request.budgetsOf?.names;
			limits.assertNamespaces(budgetsOf ?? []);
			// A call through another member asks no further members.
			const asksOthers = request.others && request.clusterId === "";
			return {
				budget: undefined,
				async answer(cluster, others) {
					const asked = { budgetsOf, others: asksOthers ? others() : Promise.resolve([]), clock };
					return descriptionMessage(await introduce(cluster, asked));
				},
			};
		}),
		listBudgets: serve("ListBudgets", ({ namespaces }: wire.ListBudgetsRequest) => {
			limits.assertNamespaces(namespaces);
			return {
				budget: undefined,
				answer: async (cluster) => budgetListMessage(await cluster.listBudgets(namespaces)),
			};
		}),
		listLeases: serve("ListLeases", (request: wire.ListLeasesRequest) => {
			const scopes = readLeaseScopes(request.budgets);
			limits.assertScopes(scopes);
			return {
				budget: undefined,
				scopes: scopes.length > 0 ? scopes : [{ namespace: "" }],
				answer: async (cluster) => leaseListMessage(cluster.id, await cluster.listLeases(scopes)),
			};
		}),
		endHolding: serve("EndHolding", (request: wire.EndHoldingRequest) => {
			const budget = readCheckedBudget(request);
			limits.assertLeaseUid(request.leaseUid);
			const transitions = wholeNumber(request.transitions, "transitions");
			return {
				budget,
				verb: "release",
				details: { transitions },
				outcome: ({ ended }) => (ended ? "ended" : "not held"),
				async answer(cluster) {
					const ended = await cluster.endHolding({ budget, leaseUid: request.leaseUid, transitions });
					return { clusterId: cluster.id, ended };
				},
			};
		}),
		count: serve("Count", (request: wire.CountRequest) => {
			const call = readCountCall(request);
			const { budget } = call.request;
			limits.assertQuestion(call.request);
			const takesLong = true;
			if (call.kind === "look") {
				const { request: question } = call;
				return { budget, takesLong, answer: async (cluster) => countResponseMessage(await cluster.look(question)) };
			}
			limits.assertAcquisition(call.acquisition);
			const { budget: acquired } = call.acquisition;
			// The right to one budget is not a right to the Lease of another.
			if (acquired.name !== budget.name || acquired.namespace !== budget.namespace) {
				throw new AgentProtocolError("Cannot serve the request: acquisition.budget is not the budget to count for");
			}
			return {
				budget,
				takesLong,
				answer: async (cluster) => countResponseMessage(await cluster.count(call.acquisition, call.request)),
			};
		}),
		renew: serve("Renew", (request: wire.RenewRequest) => {
			const acquisition = readCheckedAcquisition(request);
			return {
				budget: acquisition.budget,
				renews: true,
				async answer(cluster) {
					held.renew(acquisition);
					await cluster.renew(acquisition);
					return { clusterId: cluster.id };
				},
			};
		}),
		commit: serve("Commit", (request: wire.CommitRequest) => {
			const acquisition = readCheckedAcquisition(request);
			const grants = request.grants.map((grant, index) => readGrant(grant, `grants[${index}]`));
			limits.assertGrants(acquisition, grants);
			return {
				budget: acquisition.budget,
				details: { grants: grants.length, transitions: acquisition.leaseTransitions },
				outcome: ({ outcome }) => outcome?.$case ?? "answered",
				async answer(cluster) {
					const outcome = await cluster.commit(acquisition, grants);
					watcher.committed(outcome, grants.length);
					if (outcome.kind !== "full") held.end(acquisition);
					return { clusterId: cluster.id, outcome: commitOutcomeMessage(outcome) };
				},
			};
		}),
		release: serve("Release", (request: wire.ReleaseRequest) => {
			const acquisition = readCheckedAcquisition(request);
			return {
				budget: acquisition.budget,
				async answer(cluster) {
					await cluster.release(acquisition);
					held.end(acquisition);
					return { clusterId: cluster.id };
				},
			};
		}),
		confirm: serve("Confirm", (request: wire.ConfirmRequest) => {
			const budget = readCheckedBudget(request);
			limits.assertIds(request.ids);
			return {
				budget,
				answer: async (cluster) => ({
					clusterId: cluster.id,
					stands: await cluster.confirm(budget, request.ids),
				}),
			};
		}),
		cancel: serve("Cancel", (request: wire.CancelRequest) => {
			const budget = readCheckedBudget(request);
			limits.assertIds(request.ids);
			const sent = required(request.sent, "sent");
			return {
				budget,
				details: { ids: request.ids.length, sent },
				outcome: () => "cancelled",
				async answer(cluster) {
					await cluster.cancel(budget, request.ids, { sent });
					return { clusterId: cluster.id };
				},
			};
		}),
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

// The calls of AgentService: admit, check what was asked, have the right cluster answer. Every failure becomes a status; an
// error that is not ours is a bug, reported here and shown to nobody else.
import type { handleUnaryCall, StatusObject } from "@grpc/grpc-js";
import { status } from "@grpc/grpc-js";
import { AgentProtocolError } from "../disruption/errors.ts";
import type { AgentCluster } from "../proto/agent-cluster.ts";
import { required } from "../proto/fields.ts";
import type * as wire from "../proto/gen/xpdb/v1/agent.ts";
import { statusOfError } from "../proto/status.ts";
import { commitOutcomeMessage, readAcquisition, readBudgetName, readGrant } from "../proto/wire.ts";
import { budgetListMessage, countResponseMessage, descriptionMessage, readCountCall } from "../proto/wire-calls.ts";
import { createAcquireHandler } from "./acquire-handler.ts";
import type { IncomingCall } from "./gate.ts";
import * as limits from "./request-limits.ts";
import type { AgentServiceOptions } from "./service-options.ts";

export function createAgentService(options: AgentServiceOptions): wire.AgentServiceServer {
	const { watcher } = options;
	const serve = <Request extends { readonly clusterId: string }, Response>(
		name: string,
		answer: (request: Request, cluster: AgentCluster) => Promise<Response>,
	): handleUnaryCall<Request, Response> => {
		return (call, callback) => {
			const startedAt = performance.now();
			const finish = (refusal: Partial<StatusObject> | undefined, response?: Response): void => {
				watcher.answered({ name, port: options.gate.port, startedAt, code: refusal?.code ?? status.OK });
				if (refusal) callback(refusal);
				else callback(null, response);
			};
			answerCall(call, call.request).then(
				({ refusal, response }) => finish(refusal, response),
				(error: unknown) => {
					watcher.failed(name, error);
					finish(statusOfError(error));
				},
			);
		};
		async function answerCall(
			call: IncomingCall,
			request: Request,
		): Promise<{ refusal?: Partial<StatusObject>; response?: Response }> {
			const refusal = await options.gate.admit(call);
			if (refusal) return { refusal };
			const cluster = await options.gate.route(request.clusterId, call.metadata);
			return { response: await answer(request, cluster) };
		}
	};
	return {
		acquire: createAcquireHandler(options),
		describe: serve("Describe", async (_request: wire.DescribeRequest, cluster) =>
			descriptionMessage(await cluster.describe()),
		),
		listBudgets: serve("ListBudgets", async ({ namespaces }: wire.ListBudgetsRequest, cluster) => {
			limits.assertNamespaces(namespaces);
			return budgetListMessage(await cluster.listBudgets(namespaces));
		}),
		count: serve("Count", async (request: wire.CountRequest, cluster) => {
			const call = readCountCall(request);
			limits.assertQuestion(call.request);
			if (call.kind === "look") return countResponseMessage(await cluster.look(call.request));
			limits.assertAcquisition(call.acquisition);
			const { budget } = call.acquisition;
			if (budget.name !== call.request.budget.name || budget.namespace !== call.request.budget.namespace) {
				throw new AgentProtocolError("Cannot serve the request: acquisition.budget is not the budget to count for");
			}
			return countResponseMessage(await cluster.count(call.acquisition, call.request));
		}),
		renew: serve("Renew", async (request: wire.RenewRequest, cluster) => {
			const acquisition = readCheckedAcquisition(request);
			await cluster.renew(acquisition);
			watcher.renewed(acquisition);
			return { clusterId: cluster.id };
		}),
		commit: serve("Commit", async (request: wire.CommitRequest, cluster) => {
			const acquisition = readCheckedAcquisition(request);
			const grants = request.grants.map((grant, index) => readGrant(grant, `grants[${index}]`));
			limits.assertGrants(acquisition, grants);
			const outcome = await cluster.commit(acquisition, grants);
			watcher.committed(acquisition, outcome, grants.length);
			return { clusterId: cluster.id, outcome: commitOutcomeMessage(outcome) };
		}),
		release: serve("Release", async (request: wire.ReleaseRequest, cluster) => {
			const acquisition = readCheckedAcquisition(request);
			await cluster.release(acquisition);
			watcher.ended(acquisition);
			return { clusterId: cluster.id };
		}),
		confirm: serve("Confirm", async (request: wire.ConfirmRequest, cluster) => {
			const budget = readCheckedBudget(request);
			limits.assertIds(request.ids);
			return { clusterId: cluster.id, stands: await cluster.confirm(budget, request.ids) };
		}),
		cancel: serve("Cancel", async (request: wire.CancelRequest, cluster) => {
			const budget = readCheckedBudget(request);
			limits.assertIds(request.ids);
			await cluster.cancel(budget, request.ids, { sent: required(request.sent, "sent") });
			return { clusterId: cluster.id };
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

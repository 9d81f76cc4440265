// Converts requests and answers of the larger calls to messages and back, as strictly as wire.ts.
import type { AcquireOutcome, AcquireRequest, Acquisition, Count, LookRequest } from "../disruption/budget/cluster.ts";
import { AgentProtocolError } from "../disruption/errors.ts";
import type { BudgetList } from "./agent-cluster.ts";
import { requiredText, wholeNumber } from "./fields.ts";
import type * as wire from "./gen/xpdb/v1/agent.ts";
import {
	acquisitionMessage,
	budgetNameMessage,
	podReferenceMessage,
	readAcquisition,
	readBudgetName,
	readPodReference,
	readSelector,
	selectorMessage,
} from "./wire.ts";
import { budgetMessage, countMessage, readBudget, readCount } from "./wire-count.ts";

type Acquired = Extract<AcquireOutcome, { kind: "acquired" }>;

export function acquireMessage(
	request: AcquireRequest,
	{ clusterId, wait }: { readonly clusterId: string; readonly wait: boolean },
): wire.AcquireRequest {
	const { holder, nonce, mayBeUnwritten = false } = request;
	return { clusterId, ...lookMessage(request), holder, nonce, wait, mayBeUnwritten };
}

export function readAcquireRequest(message: wire.AcquireRequest): AcquireRequest {
	return {
		...readLook(message),
		holder: requiredText(message.holder, "holder"),
		nonce: requiredText(message.nonce, "nonce"),
		...(message.mayBeUnwritten && { mayBeUnwritten: true }),
	};
}

export function acquiredMessage({ acquisition, count, leaseDurationMs }: Acquired): wire.Acquired {
	return {
		acquisition: acquisitionMessage(acquisition),
		count: countMessage(count),
		leaseDurationMs: Math.round(leaseDurationMs),
	};
}

export function readAcquired(message: wire.Acquired): Acquired {
	return {
		kind: "acquired",
		acquisition: readAcquisition(message.acquisition, "acquired.acquisition"),
		count: readCount(message.count, "acquired.count"),
		leaseDurationMs: wholeNumber(message.leaseDurationMs, "acquired.lease_duration_ms", 1),
	};
}

/** A repeated count under an acquisition, or a look without one. */
type CountCall =
	| { readonly kind: "again"; readonly acquisition: Acquisition; readonly request: AcquireRequest }
	| { readonly kind: "look"; readonly request: LookRequest };

export function countCallMessage(clusterId: string, call: CountCall): wire.CountRequest {
	const look = { clusterId, ...lookMessage(call.request) };
	if (call.kind === "look") {
		const { thisBudgetAlone = false } = call.request;
		return { ...look, acquisition: undefined, holder: "", nonce: "", thisBudgetAlone };
	}
	const { holder, nonce } = call.request;
	return { ...look, acquisition: acquisitionMessage(call.acquisition), holder, nonce, thisBudgetAlone: false };
}

export function readCountCall(message: wire.CountRequest): CountCall {
	const look = readLook(message);
	const { thisBudgetAlone } = message;
	if (message.acquisition === undefined) {
		return { kind: "look", request: { ...look, ...(thisBudgetAlone && { thisBudgetAlone }) } };
	}
	if (thisBudgetAlone) {
		throw new AgentProtocolError("cannot read message: this_budget_alone is for looks, and not beside an acquisition");
	}
	return {
		kind: "again",
		acquisition: readAcquisition(message.acquisition, "acquisition"),
		request: {
			...look,
			holder: requiredText(message.holder, "holder"),
			nonce: requiredText(message.nonce, "nonce"),
		},
	};
}

export function countResponseMessage(count: Count): wire.CountResponse {
	return { clusterId: count.clusterId, count: countMessage(count) };
}

export function budgetListMessage({ clusterId, fleetHash, budgets }: BudgetList): wire.ListBudgetsResponse {
	return { clusterId, fleetHash, budgets: budgets.map(budgetMessage) };
}

export function readBudgetList(message: wire.ListBudgetsResponse): BudgetList {
	return {
		clusterId: requiredText(message.clusterId, "cluster_id"),
		fleetHash: requiredText(message.fleetHash, "fleet_hash"),
		budgets: message.budgets.map((budget, index) => readBudget(budget, `budgets[${index}]`)),
	};
}

function lookMessage({
	budget,
	selector,
	candidates,
}: LookRequest): Pick<wire.AcquireRequest, "budget" | "selector" | "candidates"> {
	return {
		budget: budgetNameMessage(budget),
		selector: selectorMessage(selector),
		candidates: candidates.map(podReferenceMessage),
	};
}

function readLook({ budget, selector, candidates }: ReturnType<typeof lookMessage>): LookRequest {
	return {
		budget: readBudgetName(budget, "budget"),
		selector: readSelector(selector, "selector"),
		candidates: candidates.map((pod, index) => readPodReference(pod, `candidates[${index}]`)),
	};
}

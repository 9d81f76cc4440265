// Converts lists of Leases to messages and back, as strictly as wire.ts.
import { requiredText, wholeNumber } from "./fields.ts";
import type * as wire from "./gen/xpdb/v1/agent.ts";
import type { BudgetScope, ListedHolding, ListedLease, ListedReservation } from "./listed-lease.ts";
import { budgetNameMessage, readBudgetName } from "./wire.ts";

export function leaseScopesMessage(scopes: readonly BudgetScope[]): wire.BudgetName[] {
	return scopes.map(({ namespace, name = "" }) => ({ namespace, name }));
}

export function readLeaseScopes(messages: readonly wire.BudgetName[]): readonly BudgetScope[] {
	return messages.map(({ namespace, name }, index) => ({
		namespace: requiredText(namespace, `budgets[${index}].namespace`),
		...(name !== "" && { name }),
	}));
}

export function leaseListMessage(clusterId: string, leases: readonly ListedLease[]): wire.ListLeasesResponse {
	return { clusterId, leases: leases.map(leaseMessage) };
}

export function readLeaseList({ leases }: wire.ListLeasesResponse): readonly ListedLease[] {
	return leases.map((lease, index) => readLease(lease, `leases[${index}]`));
}

function leaseMessage({ budget, holding, reservations, ...lease }: ListedLease): wire.Lease {
	return {
		...lease,
		problem: lease.problem,
		budget: budget && budgetNameMessage(budget),
		holding: holding && {
			holder: holding.holder,
			account: holding.account,
			heldForMs: Math.round(holding.heldForMs),
			expiresInMs: Math.ceil(holding.expiresInMs),
		},
		reservations: reservations.map(({ account, ...reservation }) => ({
			...reservation,
			account,
			sinceSeconds: Math.round(reservation.sinceSeconds),
			untilSeconds: Math.round(reservation.untilSeconds),
		})),
	};
}

function readLease(message: wire.Lease, field: string): ListedLease {
	const { budget, problem, transitions, holding, waiting, reserved } = message;
	return {
		name: requiredText(message.name, `${field}.name`),
		budget: budget && readBudgetName(budget, `${field}.budget`),
		...(problem !== undefined && { problem: requiredText(problem, `${field}.problem`) }),
		uid: requiredText(message.uid, `${field}.uid`),
		transitions: wholeNumber(transitions, `${field}.transitions`),
		holding: holding && readHolding(holding, `${field}.holding`),
		waiting: waiting === undefined ? undefined : wholeNumber(waiting, `${field}.waiting`),
		reservations: message.reservations.map((each, index) => readReservation(each, `${field}.reservations[${index}]`)),
		reserved: wholeNumber(reserved, `${field}.reserved`),
	};
}

function readHolding({ holder, account, heldForMs, expiresInMs }: wire.Holding, field: string): ListedHolding {
	return {
		holder: requiredText(holder, `${field}.holder`),
		...(account !== undefined && { account }),
		heldForMs: wholeNumber(heldForMs, `${field}.held_for_ms`),
		expiresInMs: wholeNumber(expiresInMs, `${field}.expires_in_ms`),
	};
}

function readReservation(message: wire.Reservation, field: string): ListedReservation {
	const { account, sinceSeconds, untilSeconds } = message;
	return {
		pod: requiredText(message.pod, `${field}.pod`),
		uid: requiredText(message.uid, `${field}.uid`),
		holder: message.holder,
		...(account !== undefined && { account }),
		sinceSeconds: wholeNumber(sinceSeconds, `${field}.since_seconds`),
		untilSeconds: wholeNumber(untilSeconds, `${field}.until_seconds`),
		cancelling: message.cancelling,
	};
}

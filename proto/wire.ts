// Converts the domain's values to messages and back: `xMessage` writes, `readX` reads. Readers throw AgentProtocolError with the field's
// name if a required field is missing, or if a value is not allowed. A missing number arrives as 0. Where 0 or false would be unsafe, the
// field is `optional` in agent.proto, and required here.
import type { BudgetName, LabelSelector } from "../disruption/budget/budget.ts";
import type {
	Acquisition,
	CommitOutcome,
	Grant,
	PlaceInLine,
	PodReference,
	UnwrittenHold,
} from "../disruption/budget/cluster.ts";
import { AgentProtocolError, InvalidBudgetError } from "../disruption/errors.ts";
import type { ControllerReference } from "../disruption/budget/pod.ts";
import { labelSelectorObject, parseLabelSelector } from "../disruption/budget/selector.ts";
import { oneOf, required, requiredName, requiredText, resourceVersion, wholeNumber } from "./fields.ts";
import type * as wire from "./gen/xpdb/v1/agent.ts";

export function budgetNameMessage({ namespace, name }: BudgetName): wire.BudgetName {
	return { namespace, name };
}

export function readBudgetName(message: wire.BudgetName | undefined, field: string): BudgetName {
	const { namespace, name } = required(message, field);
	return { namespace: requiredName(namespace, `${field}.namespace`), name: requiredName(name, `${field}.name`) };
}

export function podReferenceMessage({ namespace, name, uid }: PodReference): wire.PodReference {
	return { namespace, name, uid };
}

export function readPodReference(message: wire.PodReference | undefined, field: string): PodReference {
	const { namespace, name, uid } = required(message, field);
	return {
		namespace: requiredName(namespace, `${field}.namespace`),
		name: requiredName(name, `${field}.name`),
		uid: requiredText(uid, `${field}.uid`),
	};
}

export function controllerMessage(controller: ControllerReference | undefined): wire.ControllerReference | undefined {
	if (!controller) return undefined;
	const { apiVersion, kind, name, uid } = controller;
	return { apiVersion, kind, name, uid };
}

/** An optional controller must be complete if it is there. Returns an object to spread, for exact optional fields. */
export function readController(
	message: wire.ControllerReference | undefined,
	field: string,
): { readonly controller?: ControllerReference } {
	if (!message) return {};
	return {
		controller: {
			apiVersion: requiredText(message.apiVersion, `${field}.api_version`),
			kind: requiredText(message.kind, `${field}.kind`),
			name: requiredName(message.name, `${field}.name`),
			uid: requiredText(message.uid, `${field}.uid`),
		},
	};
}

export function selectorMessage(selector: LabelSelector): wire.LabelSelector {
	return {
		requirements: selector.requirements.map(({ key, operator, values }) => ({ key, operator, values: [...values] })),
	};
}

/** Accepts only the canonical form, because selectors are compared by their texts. */
export function readSelector(message: wire.LabelSelector | undefined, field: string): LabelSelector {
	const sent = required(message, field);
	let selector: LabelSelector;
	try {
		selector = parseLabelSelector({ matchExpressions: sent.requirements }, field);
	} catch (error) {
		if (error instanceof InvalidBudgetError) throw new AgentProtocolError(error.message, { cause: error });
		throw error;
	}
	if (JSON.stringify(labelSelectorObject(selector).matchExpressions) !== JSON.stringify(sent.requirements)) {
		throw new AgentProtocolError(`cannot read message: ${field} is not in canonical form`);
	}
	return selector;
}

export function acquisitionMessage(acquisition: Acquisition): wire.Acquisition {
	const { budget, leaseUid, leaseTransitions, nonce, countId = "", unwritten } = acquisition;
	return {
		budget: budgetNameMessage(budget),
		leaseUid,
		leaseTransitions,
		nonce,
		countId,
		unwritten: unwritten && { ...unwritten, selector: selectorMessage(unwritten.selector) },
	};
}

export function readAcquisition(message: wire.Acquisition | undefined, field: string): Acquisition {
	const { budget, leaseUid, leaseTransitions, nonce, countId, unwritten } = required(message, field);
	return {
		budget: readBudgetName(budget, `${field}.budget`),
		leaseUid: requiredText(leaseUid, `${field}.lease_uid`),
		leaseTransitions: wholeNumber(leaseTransitions, `${field}.lease_transitions`),
		nonce: requiredText(nonce, `${field}.nonce`),
		...(countId !== "" && { countId }),
		...(unwritten && { unwritten: readUnwritten(unwritten, `${field}.unwritten`) }),
	};
}

function readUnwritten({ holder, lease, selector, healthy }: wire.UnwrittenHold, field: string): UnwrittenHold {
	return {
		holder: requiredText(holder, `${field}.holder`),
		lease: requiredText(lease, `${field}.lease`),
		selector: readSelector(selector, `${field}.selector`),
		healthy: wholeNumber(healthy, `${field}.healthy`),
	};
}

export function placeMessage({ position, holder, heldForMs }: PlaceInLine): wire.PlaceInLine {
	return { position, holder, heldForMs: Math.round(heldForMs) };
}

export function readPlace(message: wire.PlaceInLine, field: string): PlaceInLine {
	return {
		position: wholeNumber(message.position, `${field}.position`),
		holder: message.holder,
		heldForMs: wholeNumber(message.heldForMs, `${field}.held_for_ms`),
	};
}

export function grantMessage(grant: Grant): wire.Grant {
	const { id, pod, controller } = grant;
	return {
		id,
		pod: podReferenceMessage(pod),
		resourceVersion: grant.resourceVersion,
		controller: controllerMessage(controller),
	};
}

export function readGrant(message: wire.Grant, field: string): Grant {
	return {
		id: requiredText(message.id, `${field}.id`),
		pod: readPodReference(message.pod, `${field}.pod`),
		resourceVersion: resourceVersion(message.resourceVersion, `${field}.resource_version`),
		...readController(message.controller, `${field}.controller`),
	};
}

export function commitOutcomeMessage(outcome: CommitOutcome): NonNullable<wire.CommitResponse["outcome"]> {
	switch (outcome.kind) {
		case "stood":
			return { $case: "stood", value: { leftOut: (outcome.leftOut ?? []).map(({ uid, why }) => ({ uid, why })) } };
		case "lost":
			return { $case: "lost", value: { reason: outcome.reason } };
		case "full":
			return { $case: "full", value: { reservations: outcome.reservations, controllers: outcome.controllers ?? 0 } };
	}
}

export function readCommitOutcome(outcome: wire.CommitResponse["outcome"]): CommitOutcome {
	const sent = required(outcome, "outcome");
	switch (sent.$case) {
		case "stood":
			return readStood(sent.value);
		case "lost":
			return { kind: "lost", reason: sent.value.reason };
		case "full":
			return {
				kind: "full",
				reservations: wholeNumber(sent.value.reservations, "outcome.full.reservations"),
				...(sent.value.controllers !== 0 && {
					controllers: wholeNumber(sent.value.controllers, "outcome.full.controllers"),
				}),
			};
	}
}

function readStood({ leftOut }: wire.Stood): CommitOutcome {
	if (leftOut.length === 0) return { kind: "stood" };
	return {
		kind: "stood",
		leftOut: leftOut.map(({ uid, why }, index) => ({
			uid: requiredText(uid, `outcome.stood.left_out[${index}].uid`),
			why: oneOf(["Gone", "NotCovered"], why, `outcome.stood.left_out[${index}].why`),
		})),
	};
}

// Converts one cluster's count to a message and back, as strictly as wire.ts.
import {
	type CandidateState,
	type Count,
	type ExpectedPods,
	type MemberBudget,
	type MislabelledWorkload,
	type PodReference,
	type UnavailablePod,
	unknownCauses,
} from "../disruption/budget/cluster.ts";
import { AgentProtocolError } from "../disruption/errors.ts";
import { boundedStatus } from "../disruption/budget/pod-status.ts";
import { oneOf, required, requiredText, resourceVersion, wholeNumber } from "./fields.ts";
import type * as wire from "./gen/xpdb/v1/agent.ts";
import { readSpecText } from "./spec-text.ts";
import {
	budgetNameMessage,
	controllerMessage,
	podReferenceMessage,
	readBudgetName,
	readController,
	readPodReference,
} from "./wire.ts";

export function countMessage(count: Count): wire.Count {
	return {
		clusterId: count.clusterId,
		clusterName: count.clusterName,
		fleetHash: count.fleetHash,
		features: [...count.features],
		budgets: count.budgets.map(budgetMessage),
		expected: expectedMessage(count.expected),
		healthy: count.healthy,
		candidates: count.candidates.map(candidateMessage),
		unavailable: count.unavailable.map(unavailableMessage),
		mislabelled: (count.mislabelled ?? []).map((workload) => ({ ...workload })),
	};
}

export function readCount(message: wire.Count | undefined, field: string): Count {
	const sent = required(message, field);
	return {
		clusterId: requiredText(sent.clusterId, `${field}.cluster_id`),
		clusterName: sent.clusterName,
		fleetHash: requiredText(sent.fleetHash, `${field}.fleet_hash`),
		features: sent.features,
		budgets: sent.budgets.map((budget, index) => readBudget(budget, `${field}.budgets[${index}]`)),
		expected: readExpected(sent.expected, `${field}.expected`),
		healthy: wholeNumber(sent.healthy, `${field}.healthy`),
		candidates: sent.candidates.map((candidate, index) => readCandidate(candidate, `${field}.candidates[${index}]`)),
		unavailable: sent.unavailable.map((pod, index) => readUnavailable(pod, `${field}.unavailable[${index}]`)),
		...(sent.mislabelled.length > 0 && {
			mislabelled: sent.mislabelled.map((workload, index) =>
				readMislabelled(workload, `${field}.mislabelled[${index}]`),
			),
		}),
	};
}

export function budgetMessage(budget: MemberBudget): wire.Budget {
	// An object without a spec must still be refused by the strict parser.
	const { name, spec, suspension } = budget;
	return { name: budgetNameMessage(name), specJson: JSON.stringify(spec ?? null), suspension };
}

export function readBudget(message: wire.Budget, field: string): MemberBudget {
	let spec: unknown;
	try {
		spec = readSpecText(message.specJson);
	} catch (error) {
		throw new AgentProtocolError(`cannot read message: ${field}.spec_json is not JSON`, { cause: error });
	}
	const { suspension } = message;
	return { name: readBudgetName(message.name, `${field}.name`), spec, ...(suspension !== undefined && { suspension }) };
}

function expectedMessage(expected: ExpectedPods): wire.ExpectedPods {
	return {
		expected:
			expected.kind === "known"
				? { $case: "pods", value: expected.pods }
				: { $case: "unknown", value: expected.reason },
		settles: expected.kind === "unknown" && expected.settles === true,
		cause: expected.kind === "unknown" ? expected.cause : undefined,
	};
}

function readExpected(message: wire.ExpectedPods | undefined, field: string): ExpectedPods {
	const { expected: sent, settles, cause: sentCause } = required(message, field);
	const expected = required(sent, field);
	// A cause that only a later version knows is still explained by the reason's text.
	const cause = unknownCauses.find((known) => known === sentCause);
	switch (expected.$case) {
		case "pods":
			return { kind: "known", pods: wholeNumber(expected.value, `${field}.pods`) };
		case "unknown":
			return { kind: "unknown", reason: expected.value, ...(settles && { settles }), ...(cause && { cause }) };
	}
}

function candidateMessage(candidate: CandidateState): wire.CandidateState {
	return { pod: podReferenceMessage(candidate.pod), state: candidateStateMessage(candidate) };
}

function candidateStateMessage(candidate: CandidateState): NonNullable<wire.CandidateState["state"]> {
	switch (candidate.kind) {
		case "gone":
			return { $case: "gone", value: {} };
		case "free":
			return { $case: "free", value: { why: candidate.why } };
		case "unseen":
			return { $case: "unseen", value: {} };
		case "present":
			return {
				$case: "present",
				value: {
					healthy: candidate.healthy,
					resourceVersion: candidate.resourceVersion,
					labels: { ...candidate.labels },
					controller: controllerMessage(candidate.controller),
					reservedBy: candidate.reservedBy && {
						holder: candidate.reservedBy.holder,
						sinceSeconds: Math.round(candidate.reservedBy.sinceSeconds),
					},
					preActivities: [...candidate.preActivities],
					changesEveryMs: candidate.changesEveryMs,
					unexpected: candidate.unexpected,
				},
			};
	}
}

function readCandidate(message: wire.CandidateState, field: string): CandidateState {
	const pod = readPodReference(message.pod, `${field}.pod`);
	const state = required(message.state, `${field}.state`);
	switch (state.$case) {
		case "gone":
			return { kind: "gone", pod };
		case "free":
			return { kind: "free", pod, why: oneOf(["Terminating", "Finished"], state.value.why, `${field}.free.why`) };
		case "unseen":
			return { kind: "unseen", pod };
		case "present":
			return readPresent(pod, state.value, `${field}.present`);
	}
}

function readPresent(pod: PodReference, message: wire.Present, field: string): CandidateState {
	const { reservedBy } = message;
	return {
		kind: "present",
		pod,
		healthy: required(message.healthy, `${field}.healthy`),
		resourceVersion: resourceVersion(message.resourceVersion, `${field}.resource_version`),
		labels: message.labels,
		...readController(message.controller, `${field}.controller`),
		...(reservedBy && {
			reservedBy: {
				holder: reservedBy.holder,
				sinceSeconds: wholeNumber(reservedBy.sinceSeconds, `${field}.reserved_by.since_seconds`),
			},
		}),
		preActivities: message.preActivities,
		...(message.changesEveryMs !== undefined && { changesEveryMs: message.changesEveryMs }),
		...(message.unexpected !== undefined && { unexpected: message.unexpected }),
	};
}

function unavailableMessage({ sinceSeconds, ...pod }: UnavailablePod): wire.UnavailablePod {
	const { namespace, name, why, holder, account, state, message } = pod;
	return {
		namespace,
		name,
		why,
		holder,
		sinceSeconds: sinceSeconds === undefined ? undefined : Math.round(sinceSeconds),
		state,
		message,
		account,
	};
}

function readMislabelled(sent: wire.MislabelledWorkload, field: string): MislabelledWorkload {
	const { kind, namespace, name, wants, others } = sent;
	return {
		kind: requiredText(kind, `${field}.kind`),
		namespace: requiredText(namespace, `${field}.namespace`),
		name: requiredText(name, `${field}.name`),
		wants: wholeNumber(wants, `${field}.wants`),
		others: wholeNumber(others, `${field}.others`),
	};
}

function readUnavailable(sent: wire.UnavailablePod, field: string): UnavailablePod {
	const { namespace, name, why, holder, account, sinceSeconds, state, message } = sent;
	return {
		namespace: requiredText(namespace, `${field}.namespace`),
		name: requiredText(name, `${field}.name`),
		why: oneOf(["Reserved", "Terminating", "NotReady"], why, `${field}.why`),
		...(holder !== undefined && { holder }),
		...(account !== undefined && { account }),
		...boundedStatus({
			...(state !== undefined && { state }),
			...(message !== undefined && { message }),
			...(sinceSeconds !== undefined && { sinceSeconds: wholeNumber(sinceSeconds, `${field}.since_seconds`) }),
		}),
	};
}

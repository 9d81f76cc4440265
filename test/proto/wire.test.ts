import { describe, expect, test } from "vitest";
import type { CommitOutcome } from "../../disruption/budget/cluster.ts";
import { AgentProtocolError } from "../../disruption/errors.ts";
import * as generated from "../../proto/gen/xpdb/v1/agent.ts";
import * as wire from "../../proto/wire.ts";
import * as calls from "../../proto/wire-calls.ts";
import { countMessage, readCount } from "../../proto/wire-count.ts";
import { descriptionMessage, readDescription, readIntroduction } from "../../proto/wire-description.ts";
import * as samples from "../support/samples.ts";

const { clusterId } = samples;

describe("messages", () => {
	// Messages pass through bytes, because the generated code leaves out defaults and restores them.
	const rows: { name: string; sent: unknown; read: () => unknown }[] = [
		{
			name: "AcquireRequest",
			sent: { ...samples.acquireRequest, mayBeUnwritten: true },
			read: () => {
				const sent = { ...samples.acquireRequest, mayBeUnwritten: true };
				const message = calls.acquireMessage(sent, { clusterId, wait: false });
				return calls.readAcquireRequest(overBytes(generated.AcquireRequest, message));
			},
		},
		{
			name: "AcquireRequest of who knows of no unwritten holds",
			sent: samples.acquireRequest,
			read: () =>
				calls.readAcquireRequest(
					overBytes(generated.AcquireRequest, calls.acquireMessage(samples.acquireRequest, { clusterId, wait: true })),
				),
		},
		{
			name: "Acquired",
			sent: { ...samples.acquired, acquisition: samples.unwrittenAcquisition },
			read: () => {
				const sent = { ...samples.acquired, acquisition: samples.unwrittenAcquisition };
				return calls.readAcquired(overBytes(generated.Acquired, calls.acquiredMessage(sent)));
			},
		},
		{
			name: "Acquired of a hold that is written",
			sent: samples.acquired,
			read: () => calls.readAcquired(overBytes(generated.Acquired, calls.acquiredMessage(samples.acquired))),
		},
		{
			name: "a count whose expected pods are unknown",
			sent: { ...samples.count, expected: { kind: "unknown", reason: "Job has no scale", settles: true } },
			read: () => {
				const expected = { kind: "unknown", reason: "Job has no scale", settles: true } as const;
				const count = { ...samples.count, expected };
				return readCount(overBytes(generated.Count, countMessage(count)), "count");
			},
		},
		{
			name: "a count again",
			sent: { kind: "again", acquisition: samples.acquisition, request: samples.acquireRequest },
			read: () => {
				const { acquisition, acquireRequest: request } = samples;
				const message = calls.countCallMessage(clusterId, { kind: "again", acquisition, request });
				return calls.readCountCall(overBytes(generated.CountRequest, message));
			},
		},
		{
			name: "a look",
			sent: { kind: "look", request: { budget: samples.budget, selector: { requirements: [] }, candidates: [] } },
			read: () => {
				const request = { budget: samples.budget, selector: { requirements: [] }, candidates: [] };
				const message = calls.countCallMessage(clusterId, { kind: "look", request });
				return calls.readCountCall(overBytes(generated.CountRequest, message));
			},
		},
		{
			name: "a look at one budget alone",
			sent: {
				kind: "look",
				request: { budget: samples.budget, selector: { requirements: [] }, candidates: [], thisBudgetAlone: true },
			},
			read: () => {
				const request = {
					budget: samples.budget,
					selector: { requirements: [] },
					candidates: [],
					thisBudgetAlone: true,
				};
				const message = calls.countCallMessage(clusterId, { kind: "look", request });
				return calls.readCountCall(overBytes(generated.CountRequest, message));
			},
		},
		{
			name: "grants",
			sent: samples.grants,
			read: () =>
				samples.grants.map((grant) => wire.readGrant(overBytes(generated.Grant, wire.grantMessage(grant)), "grant")),
		},
		{
			name: "a place in line",
			sent: { position: 2, holder: "", heldForMs: 1235 },
			read: () =>
				wire.readPlace(
					overBytes(generated.PlaceInLine, wire.placeMessage({ position: 2, holder: "", heldForMs: 1234.6 })),
					"held",
				),
		},
		{
			name: "a description",
			sent: samples.description,
			read: () => readDescription(overBytes(generated.DescribeResponse, descriptionMessage(samples.description))),
		},
		{
			name: "all that a description may tell",
			sent: samples.fullDescription,
			read: () => readDescription(overBytes(generated.DescribeResponse, descriptionMessage(samples.fullDescription))),
		},
		{
			name: "an introduction, with what other members say",
			sent: samples.introduction,
			read: () => readIntroduction(overBytes(generated.DescribeResponse, descriptionMessage(samples.introduction))),
		},
		{
			name: "a list of budgets",
			sent: { clusterId, fleetHash: "5f", budgets: samples.count.budgets },
			read: () => {
				const list = { clusterId, fleetHash: "5f", budgets: samples.count.budgets };
				return calls.readBudgetList(overBytes(generated.ListBudgetsResponse, calls.budgetListMessage(list)));
			},
		},
	];
	for (const row of rows) test(`bring back ${row.name}`, () => expect(row.read()).toEqual(row.sent));

	const outcomes: CommitOutcome[] = [
		{ kind: "stood" },
		{ kind: "lost", reason: "taken over" },
		{ kind: "full", reservations: 1500 },
		{ kind: "full", reservations: 3, controllers: 900 },
		{
			kind: "stood",
			leftOut: [
				{ uid: "uid-db-0", why: "Gone" },
				{ uid: "uid-web-0", why: "NotCovered" },
			],
		},
	];
	for (const outcome of outcomes) {
		test(`bring back the commit outcome ${outcome.kind}`, () => {
			const message = { outcome: wire.commitOutcomeMessage(outcome), clusterId };
			expect(wire.readCommitOutcome(overBytes(generated.CommitResponse, message).outcome)).toEqual(outcome);
		});
	}

	test("read a budget without spec as one that no parser accepts", () => {
		const sent = { ...samples.count, budgets: [{ name: samples.budget, spec: undefined }] };
		expect(readCount(countMessage(sent), "count").budgets).toEqual([{ name: samples.budget, spec: null }]);
	});

	test("keep of the state of a pod no more than a line, whatever an agent says", () => {
		const pod = { namespace: "shop", name: "db-9", why: "NotReady" } as const;
		const unavailable = [{ ...pod, state: "", message: `a\n${"x".repeat(1_000)}` }];
		const [read] = readCount(countMessage({ ...samples.count, unavailable }), "count").unavailable;
		expect(read).not.toHaveProperty("state");
		expect(read?.message).toMatch(/^a\\u000ax+…$/);
		expect(read?.message).toHaveLength(251);
	});
});

describe("messages that say too little or something unknown", () => {
	const request = () => calls.acquireMessage(samples.acquireRequest, { clusterId, wait: false });
	const count = () => countMessage(samples.count);
	const candidate = (change: Partial<generated.CandidateState>) => ({
		...count(),
		candidates: [{ pod: wire.podReferenceMessage(samples.pod("db-0")), state: undefined, ...change }],
	});
	const present: generated.Present = {
		healthy: true,
		resourceVersion: "7",
		labels: {},
		controller: undefined,
		reservedBy: undefined,
		preActivities: [],
	};
	const rows: { name: string; field: string; read: () => unknown }[] = [
		{ name: "no budget", field: "budget", read: () => calls.readAcquireRequest({ ...request(), budget: undefined }) },
		{
			name: "a budget without namespace",
			field: "budget.namespace",
			read: () => calls.readAcquireRequest({ ...request(), budget: { namespace: "", name: "db" } }),
		},
		{
			name: "no selector",
			field: "selector",
			read: () => calls.readAcquireRequest({ ...request(), selector: undefined }),
		},
		{
			name: "a selector with values out of order",
			field: "selector",
			read: () => wire.readSelector({ requirements: [{ key: "a", operator: "In", values: ["y", "x"] }] }, "selector"),
		},
		{
			name: "a selector with requirements out of order",
			field: "selector",
			read: () =>
				wire.readSelector(
					{
						requirements: [
							{ key: "b", operator: "Exists", values: [] },
							{ key: "a", operator: "Exists", values: [] },
						],
					},
					"selector",
				),
		},
		{
			name: "a selector with an unknown operator",
			field: "selector.matchExpressions[0].operator",
			read: () => wire.readSelector({ requirements: [{ key: "a", operator: "Gt", values: ["1"] }] }, "selector"),
		},
		{ name: "no holder", field: "holder", read: () => calls.readAcquireRequest({ ...request(), holder: "" }) },
		{ name: "no nonce", field: "nonce", read: () => calls.readAcquireRequest({ ...request(), nonce: "" }) },
		{
			name: "a candidate without uid",
			field: "candidates[0].uid",
			read: () =>
				calls.readAcquireRequest({ ...request(), candidates: [{ namespace: "shop", name: "db-0", uid: "" }] }),
		},
		{
			name: "an acquisition without lease uid",
			field: "acquisition.lease_uid",
			read: () =>
				wire.readAcquisition({ ...wire.acquisitionMessage(samples.acquisition), leaseUid: "" }, "acquisition"),
		},
		{
			name: "an acquisition with negative transitions",
			field: "acquisition.lease_transitions",
			read: () =>
				wire.readAcquisition({ ...wire.acquisitionMessage(samples.acquisition), leaseTransitions: -1 }, "acquisition"),
		},
		{
			name: "a lease that is over already",
			field: "acquired.lease_duration_ms",
			read: () => calls.readAcquired({ ...calls.acquiredMessage(samples.acquired), leaseDurationMs: 0 }),
		},
		{ name: "no count", field: "count", read: () => readCount(undefined, "count") },
		{ name: "a negative count", field: "count.healthy", read: () => readCount({ ...count(), healthy: -1 }, "count") },
		{
			name: "no expected pods",
			field: "count.expected",
			read: () => readCount({ ...count(), expected: { expected: undefined, settles: false } }, "count"),
		},
		{
			name: "negative expected pods",
			field: "count.expected.pods",
			read: () =>
				readCount({ ...count(), expected: { expected: { $case: "pods", value: -3 }, settles: false } }, "count"),
		},
		{ name: "no fleet", field: "count.fleet_hash", read: () => readCount({ ...count(), fleetHash: "" }, "count") },
		{
			name: "a spec that is not JSON",
			field: "count.budgets[0].spec_json",
			read: () => readCount({ ...count(), budgets: [{ name: samples.budget, specJson: "" }] }, "count"),
		},
		{
			name: "a candidate in a state that this version does not know",
			field: "count.candidates[0].state",
			read: () => readCount(candidate({}), "count"),
		},
		{
			name: "a pod that is free for an unknown reason",
			field: "count.candidates[0].free.why",
			read: () => readCount(candidate({ state: { $case: "free", value: { why: "Unloved" } } }), "count"),
		},
		{
			name: "a pod of which nobody says whether it is healthy",
			field: "count.candidates[0].present.healthy",
			read: () =>
				readCount(candidate({ state: { $case: "present", value: { ...present, healthy: undefined } } }), "count"),
		},
		{
			name: "a version that is no number",
			field: "count.candidates[0].present.resource_version",
			read: () =>
				readCount(candidate({ state: { $case: "present", value: { ...present, resourceVersion: "7a" } } }), "count"),
		},
		{
			name: "half a controller",
			field: "count.candidates[0].present.controller.uid",
			read: () =>
				readCount(
					candidate({
						state: { $case: "present", value: { ...present, controller: { ...samples.controller, uid: "" } } },
					}),
					"count",
				),
		},
		{ name: "a commit outcome that is unknown", field: "outcome", read: () => wire.readCommitOutcome(undefined) },
		{
			name: "a grant without id",
			field: "grants[0].id",
			read: () => wire.readGrant({ ...grantSample(), id: "" }, "grants[0]"),
		},
		{
			name: "a grant without a version",
			field: "grants[0].resource_version",
			read: () => wire.readGrant({ ...grantSample(), resourceVersion: "" }, "grants[0]"),
		},
	];
	for (const row of rows) {
		test(`are refused: ${row.name}`, () => {
			expect(row.read).toThrow(AgentProtocolError);
			expect(row.read).toThrow(`: ${row.field} `);
		});
	}
});

test("a count that a decision rests on is refused where it asks for one budget alone", () => {
	const { acquisition, acquireRequest: request } = samples;
	const message = calls.countCallMessage(clusterId, { kind: "again", acquisition, request });
	expect(message.thisBudgetAlone).toBe(false);
	const altered = overBytes(generated.CountRequest, { ...message, thisBudgetAlone: true });
	expect(() => calls.readCountCall(altered)).toThrow(AgentProtocolError);
	expect(() => calls.readCountCall(altered)).toThrow("this_budget_alone");
});

function grantSample(): generated.Grant {
	return { id: "g", pod: samples.pod("db-0"), resourceVersion: "1", controller: undefined };
}

function overBytes<T>(codec: generated.MessageFns<T>, message: T): T {
	return codec.decode(codec.encode(message).finish());
}

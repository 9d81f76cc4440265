import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { CandidateState } from "../../../disruption/budget/cluster.ts";
import { decide } from "../../../disruption/budget/decide.ts";
import { fleetHash } from "../../../disruption/budget/fleet.ts";
import type { PlanBudget, PlanPod, PlanQueue } from "../../../plugin/plan/drain-plan.ts";
import { simulateDrain } from "../../../plugin/plan/simulate-drain.ts";
import { memberBudget, newSpec, podReference } from "../../support/build-count.ts";
import { inWaves, nativeBudget, one, type PlanRow, planBudget, planPod, queue, story, two } from "./build-plan.ts";

const waves = (queues: readonly PlanQueue[], budgets: readonly PlanBudget[]): readonly string[] =>
	story(simulateDrain(queues, budgets, inWaves));
const [a, b, c, d] = ["a", "b", "c", "d"].map((name) => planPod(name));
const pods = [a, b, c, d].filter((pod) => pod !== undefined);
const free = (name: string) => planPod(name, { budgets: [] });

const changed = memberBudget({ maxUnavailable: 2, selector: { matchLabels: { app: "other" } } });

describe("simulateDrain() in waves", () => {
	const rows: readonly PlanRow[] = [
		{ name: "has nothing to do without nodes", queues: [], expected: [] },
		{ name: "passes over nodes without pods", queues: [queue()], expected: [] },
		{
			name: "lets pods without a budget go at once",
			queues: [queue([free("x"), free("y")])],
			budgets: [],
			expected: ["x@0", "y@0"],
		},
		{
			name: "lets as many go as the budget allows, and the next when these are back",
			queues: [queue(pods)],
			budgets: [planBudget(two)],
			expected: ["a@0", "b@0", "c@1 for a+b", "d@1 for a+b"],
		},
		{
			name: "counts pods of several clusters together",
			queues: [queue([planPod("a")]), queue([planPod("b", { clusterId: "us" })])],
			budgets: [planBudget(one)],
			expected: ["a@0", "b@1 for a"],
		},
		{
			name: "does not hold back what no budget covers",
			queues: [queue([planPod("a"), free("x"), planPod("b")])],
			budgets: [planBudget(one)],
			expected: ["a@0", "x@0", "b@1 for a"],
		},
		{
			name: "begins a node when the one before it in its cluster is empty",
			queues: [
				{
					nodes: [
						{ name: "n0", groups: [[planPod("a"), planPod("b")]] },
						{ name: "n1", groups: [[free("x"), planPod("c")]] },
					],
					atOnce: 1,
				},
			],
			budgets: [planBudget(one)],
			expected: ["a@0", "b@1 for a", "x@2 after node n0", "c@2 after node n0"],
		},
		{
			name: "drains as many nodes at a time as it may",
			queues: [{ nodes: ["n0", "n1", "n2"].map((name) => ({ name, groups: [[free(`on-${name}`)]] })), atOnce: 2 }],
			expected: ["on-n0@0", "on-n1@0", "on-n2@1 after node n1"],
		},
		{
			name: "begins a group when the one before it is gone",
			queues: [queue([free("x"), free("y")], [free("z")])],
			expected: ["x@0", "y@0", "z@1 after group x+y"],
		},
		{
			name: "asks every budget of a pod",
			queues: [queue(["a", "b", "c"].map((name) => planPod(name, { budgets: ["db", "native-eu"] })))],
			budgets: [planBudget(two), nativeBudget("eu", { minAvailable: 2 })],
			expected: ["a@0", "b@1 for a", "c@2 for b"],
		},
		{
			name: "takes nothing from one budget for a pod that another one keeps",
			queues: [queue([planPod("a", { budgets: ["db", "native-eu"] }), planPod("b")])],
			budgets: [planBudget(one), nativeBudget("eu", { minAvailable: 3 })],
			expected: ["b@0", "a never BudgetNeverMet"],
		},
		{
			name: "lets an unready pod go beside a ready one, while the others are enough",
			queues: [queue([planPod("a", { state: { healthy: false } }), planPod("b"), planPod("c")])],
			budgets: [planBudget(two, { eu: { healthy: 2 } })],
			expected: ["a@0", "b@0", "c@1 for b"],
		},
		{
			name: "lets pods go that nothing can make healthy again",
			queues: [
				queue([
					planPod("a", { state: { kind: "free", pod: podReference("a"), why: "Terminating" } }),
					planPod("b", { state: { kind: "gone", pod: podReference("b") } }),
				]),
			],
			budgets: [planBudget({ maxUnavailable: 0 })],
			expected: ["a@0", "b@0"],
		},
		{
			name: "comes to an end where a budget was changed between its list and its counts",
			queues: [queue([planPod("a"), planPod("b")])],
			budgets: [planBudget(two, { eu: { budgets: [changed] }, us: { budgets: [changed] } })],
			expected: ["a@0 for others (CoverageChanged)", "b@0 for others (CoverageChanged)"],
		},
		{
			name: "is not held back by a budget that is suspended in all members",
			queues: [queue(pods)],
			budgets: [planBudget({ maxUnavailable: 0, suspend: true })],
			expected: ["a@0", "b@0", "c@0", "d@0"],
		},
		{
			name: "does not wait for a replacement that nobody makes, where nobody expects it",
			queues: [queue(["a", "b"].map((name) => planPod(name, { replaced: false })))],
			budgets: [planBudget(one)],
			expected: ["a@0", "b@1 for a"],
		},
		{
			name: "knows that pods nobody replaces stay away from a fixed minimum",
			queues: [queue(["a", "b"].map((name) => planPod(name, { replaced: false })))],
			budgets: [planBudget({ minAvailable: 5 })],
			expected: ["a@0", "b never BudgetNeverMet"],
		},
	];
	for (const { name, queues, budgets = [], expected } of rows) {
		test(name, () => expect(waves(queues, budgets)).toEqual(expected));
	}
});

test("simulateDrain() judges a PodDisruptionBudget by itself, also in a fleet of one cluster", () => {
	const { counted, ...budget } = planBudget(one, { eu: { fleetHash: fleetHash(["eu"]) } });
	const alone = { ...budget, memberIds: ["eu"], counted: { ...counted, counts: counted.counts.slice(0, 1) } };
	const pod = planPod("a", { budgets: ["native-eu"] });
	const gone: CandidateState = { kind: "gone", pod: pod.candidate.pod };
	const queues = [queue([{ ...pod, states: new Map([...pod.states, ["db", gone]]) }])];
	expect(story(simulateDrain(queues, [alone, nativeBudget("eu", { minAvailable: 1 })], inWaves))).toEqual(["a@0"]);
});

describe("simulateDrain() with others in the way", () => {
	const used = { namespace: "shop", name: "z", why: "Reserved", holder: "drain-7f" } as const;
	const rows: readonly PlanRow[] = [
		{
			name: "waits where a budget is used up for now, and goes on as if that were over",
			queues: [queue([planPod("a"), planPod("b")])],
			budgets: [planBudget(one, { us: { healthy: 2, unavailable: [used] } })],
			expected: ["a@0 for others (BudgetExhausted)", "b@1 for others (BudgetExhausted) for a"],
		},
		{
			name: "goes one by one where half of the budget is used up",
			queues: [queue([planPod("a"), planPod("b")])],
			budgets: [planBudget(two, { us: { healthy: 2, unavailable: [used] } })],
			expected: ["a@0", "b@1 for a"],
		},
		{
			name: "waits where the expected pods are unknown and enough of those there are could be healthy",
			queues: [queue([planPod("a")])],
			budgets: [
				planBudget(
					{ minAvailable: 5 },
					{ us: { healthy: 2, unavailable: [used], expected: { kind: "unknown", reason: "no scale" } } },
				),
			],
			expected: ["a@0 for others (BudgetExhausted)"],
		},
		{
			name: "waits for a pod that somebody else was granted",
			queues: [
				queue([planPod("a", { state: { reservedBy: { holder: "drain-7f", sinceSeconds: 1 }, healthy: false } })]),
			],
			budgets: [planBudget(one, { eu: { healthy: 2 } })],
			expected: ["a@0 for others (PodReserved)"],
		},
		{
			name: "waits for a pre-activity and holds nobody else back meanwhile",
			queues: [queue([planPod("a", { state: { preActivities: ["backup"] } }), planPod("b")])],
			budgets: [planBudget(two)],
			expected: ["b@0", "a@0 for others (PreActivityPending)"],
		},
		{
			name: "waits for a pod that its cluster's agent has not seen",
			queues: [queue([planPod("a", { state: { kind: "unseen", pod: podReference("a") } })])],
			budgets: [planBudget(one)],
			expected: ["a@0 for others (PodUnseen)"],
		},
	];
	for (const { name, queues, budgets = [], expected } of rows) {
		test(name, () => expect(waves(queues, budgets)).toEqual(expected));
	}
});

describe("simulateDrain() with pods that can never go", () => {
	const rows: readonly (PlanRow & { readonly message: RegExp })[] = [
		{
			name: "maxUnavailable 0",
			queues: [queue([planPod("a"), free("x")])],
			budgets: [planBudget({ maxUnavailable: 0 })],
			expected: ["x@0", "a never BudgetNeverMet"],
			message: /^budget shop\/db with .* needs 6 healthy of 6 expected pods: that leaves none to disrupt$/,
		},
		{
			name: "a minimum as large as all expected pods, even while some of them are down",
			queues: [queue([planPod("a")])],
			budgets: [planBudget({ minAvailable: 6 }, { us: { healthy: 1 } })],
			expected: ["a never BudgetNeverMet"],
			message: /needs 6 healthy of 6 expected pods/,
		},
		{
			name: "a minimum above all expected pods",
			queues: [queue([planPod("a")])],
			budgets: [planBudget({ minAvailable: 9 })],
			expected: ["a never BudgetNeverMet"],
			message: /needs 9 healthy of 6 expected pods/,
		},
		{
			name: "an owner without scale",
			queues: [queue([planPod("a")])],
			budgets: [planBudget(one, { us: { expected: { kind: "unknown", reason: "Job has no scale" } } })],
			expected: ["a never ExpectedPodsUnknown"],
			message: /Job has no scale/,
		},
		{
			name: "selectors that differ",
			queues: [queue([planPod("a")])],
			budgets: [
				planBudget(one, {
					us: { budgets: [memberBudget({ ...newSpec(one), selector: { matchLabels: { app: "web" } } })] },
				}),
			],
			expected: ["a never SelectorsDiffer"],
			message: /one selector/,
		},
		{
			name: "a budget that needs what an agent does not understand",
			queues: [queue([planPod("a")])],
			budgets: [planBudget({ ...one, probe: { endpoint: "probe:1" } })],
			expected: ["a never FeatureMissing"],
			message: /spec\.probe/,
		},
		{
			name: "the next group and the next node are planned without them",
			queues: [
				{
					nodes: [
						{ name: "n0", groups: [[planPod("a")], [free("x")]] },
						{ name: "n1", groups: [[free("y")]] },
					],
					atOnce: 1,
				},
			],
			budgets: [planBudget({ maxUnavailable: 0 })],
			expected: ["x@0 after group a", "y@1 after node n0", "a never BudgetNeverMet"],
			message: /leaves none/,
		},
	];
	for (const { name, queues, budgets = [], expected, message } of rows) {
		test(name, () => {
			const simulated = simulateDrain(queues, budgets, inWaves);
			expect(story(simulated)).toEqual(expected);
			expect(simulated.pods.flatMap((pod) => (pod.kind === "never" ? [pod.never.message] : []))[0]).toMatch(message);
		});
	}
});

describe("simulateDrain() in time", () => {
	test("a pod goes as soon as one replacement is healthy, however long another one takes", () => {
		const pace = (pod: PlanPod) => ({ goneAfter: 2, backAfter: pod === a ? 10 : 3 });
		const { pods: planned, endsAt } = simulateDrain([queue(pods)], [planBudget(two)], pace);
		expect(planned.map((pod) => (pod.kind === "goes" ? [pod.pod.candidate.pod.name, pod.at] : []))).toEqual([
			["a", 0],
			["b", 0],
			["c", 5],
			["d", 10],
		]);
		expect(endsAt).toBe(12);
	});

	test("a node is done when its pods are gone, not when they are back", () => {
		const nodes = ["n0", "n1"].map((name) => ({ name, groups: [[free(name)]] }));
		const { endsAt } = simulateDrain([{ nodes, atOnce: 1 }], [], () => ({ goneAfter: 3, backAfter: 60 }));
		expect(endsAt).toBe(6);
	});

	test("300 pods under one budget of one come to 300 waves", () => {
		const many = Array.from({ length: 300 }, (_, index) => planPod(`p-${index}`));
		const counts = { eu: { healthy: 300, expected: { kind: "known", pods: 300 } } } as const;
		expect(simulateDrain([queue(many)], [planBudget(one, counts)], inWaves).endsAt).toBe(300);
	});
});

describe("simulateDrain() and decide()", () => {
	const anyPod = fc.record({ healthy: fc.boolean(), clusterId: fc.constantFrom("eu", "us") });
	const anySpec = fc.record({ maxUnavailable: fc.nat(4) }).map((spec) => spec);
	const expected = { kind: "known", pods: 6 } as const;
	const drains = [fc.array(anyPod, { maxLength: 8 }), anySpec, fc.nat(6), fc.nat(6)] as const;
	const build = (fields: readonly { healthy: boolean; clusterId: string }[]) =>
		fields.map(({ healthy, clusterId }, index) => planPod(`p-${index}`, { clusterId, state: { healthy } }));

	test("the first wave is what one round grants, where nothing has to be waited for", () => {
		fc.assert(
			fc.property(...drains, (fields, spec, eu, us) => {
				const planned = build(fields);
				const budget = planBudget(spec, { eu: { healthy: eu, expected }, us: { healthy: us, expected } });
				const counts = budget.counted.counts.map((count) => ({
					...count,
					candidates: planned.flatMap(({ candidate, states }) =>
						candidate.clusterId === count.clusterId ? [...states.values()] : [],
					),
				}));
				const round = decide(
					budget.memberIds,
					[{ ...budget.counted, counts }],
					planned.map(({ candidate }) => candidate),
				);
				const granted = round.flatMap(({ kind, candidate }) => (kind === "grantable" ? [candidate.pod.name] : []));
				const first = simulateDrain([queue(planned)], [budget], inWaves).pods.flatMap((pod) =>
					pod.kind === "goes" && pod.at === 0 && pod.waits.length === 0 ? [pod.pod.candidate.pod.name] : [],
				);
				expect(first).toEqual(granted);
			}),
		);
	});

	test("every pod is planned once, and never more are down at once than the budget allows", () => {
		fc.assert(
			fc.property(...drains, fc.nat(3), (fields, spec, eu, us, backAfter) => {
				const planned = build(fields);
				const budget = planBudget(spec, { eu: { healthy: eu, expected }, us: { healthy: us, expected } });
				const { pods: all } = simulateDrain([queue(planned)], [budget], () => ({ goneAfter: 1, backAfter }));
				expect(all).toHaveLength(planned.length);
				expect(new Set(all.map(({ pod }) => pod)).size).toBe(planned.length);
				const costly = all.flatMap((pod) =>
					pod.kind === "goes" && fields[planned.indexOf(pod.pod)]?.healthy === true ? [pod] : [],
				);
				for (const { at } of costly) {
					const down = costly.filter((other) => other.at <= at && other.goneAt + backAfter > at).length;
					expect(down).toBeLessThanOrEqual(spec.maxUnavailable);
				}
			}),
		);
	});
});

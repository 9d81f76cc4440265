import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Bound, desiredHealthy } from "../../disruption/budget/budget.ts";
import type { CandidateState, Count, ExpectedPods } from "../../disruption/budget/cluster.ts";
import { decide, type Judgement } from "../../disruption/budget/decide.ts";
import { budget, memberBudget, newCount, newSpec, podReference, presentPod, selector } from "../support/build-count.ts";

const known = (pods: number): ExpectedPods => ({ kind: "known", pods });
const unknown: ExpectedPods = {
	kind: "unknown",
	reason: 'pod shop/job-0 is controlled by Job "job", which has no scale',
};

function judge(
	fields: { readonly eu?: Partial<Count>; readonly us?: Partial<Count> },
	...candidates: readonly CandidateState[]
): readonly Judgement[] {
	const states = candidates.length > 0 ? candidates : [presentPod("db-0")];
	return decide(
		["eu", "us"],
		[
			{
				budget: { name: budget, selector },
				counts: [newCount("eu", { candidates: states, ...fields.eu }), newCount("us", fields.us)],
			},
		],
		states.map(({ pod }) => ({ clusterId: "eu", pod })),
	);
}

/** Returns for example "grantable", "free Gone", "waiting BudgetExhausted" or "refused InvalidBudget". */
function summary(judgement: Judgement): string {
	switch (judgement.kind) {
		case "grantable":
			return "grantable";
		case "free":
			return `free ${judgement.why}`;
		case "waiting":
		case "refused":
			return `${judgement.kind} ${judgement.reason}`;
	}
}

/** Returns the part of a count that lists the budget with this bound. */
function both(spec: Readonly<Record<string, unknown>>) {
	return { budgets: [memberBudget(newSpec(spec))] };
}

describe("decide() judges a bound over the whole fleet", () => {
	interface Row {
		readonly name: string;
		readonly eu: Partial<Count>;
		readonly us: Partial<Count>;
		readonly expected: string;
	}
	const rows: readonly Row[] = [
		{ name: "grants where all pods of all members are healthy", eu: {}, us: {}, expected: "grantable" },
		{
			name: "waits where the one unavailable pod is in another member",
			eu: {},
			us: { healthy: 2 },
			expected: "waiting BudgetExhausted",
		},
		{
			// Each member alone would need 1 of 1, so nothing could ever be disrupted.
			name: "takes a percentage of all expected pods and not of each member's",
			eu: { ...both({ minAvailable: "50%" }), expected: known(1), healthy: 1 },
			us: { ...both({ minAvailable: "50%" }), expected: known(1), healthy: 1 },
			expected: "grantable",
		},
		{
			name: "rounds minAvailable up once, over the fleet: 50% of 3 are 2",
			eu: { ...both({ minAvailable: "50%" }), expected: known(2), healthy: 2 },
			us: { ...both({ minAvailable: "50%" }), expected: known(1), healthy: 0 },
			expected: "waiting BudgetExhausted",
		},
		{
			name: "rounds maxUnavailable up: 10% of 6 are 1",
			eu: both({ maxUnavailable: "10%" }),
			us: both({ maxUnavailable: "10%" }),
			expected: "grantable",
		},
		{
			name: "allows nothing more once 10% of 6 are down",
			eu: both({ maxUnavailable: "10%" }),
			us: { ...both({ maxUnavailable: "10%" }), healthy: 2 },
			expected: "waiting BudgetExhausted",
		},
		{
			name: "allows nothing under maxUnavailable 0%",
			eu: both({ maxUnavailable: "0%" }),
			us: both({ maxUnavailable: "0%" }),
			expected: "waiting BudgetExhausted",
		},
		{
			name: "takes the strictest bound where members differ, here of the pod's own member",
			eu: both({ minAvailable: 6 }),
			us: both({ minAvailable: 1 }),
			expected: "waiting BudgetExhausted",
		},
		{
			name: "takes the strictest bound where members differ, here of another member",
			eu: both({ maxUnavailable: 5 }),
			us: both({ minAvailable: "100%" }),
			expected: "waiting BudgetExhausted",
		},
		{
			name: "judges each member's bound over the global expected pods: maxUnavailable 1 of 6 in both is not 2",
			eu: { healthy: 2 },
			us: { healthy: 3 },
			expected: "waiting BudgetExhausted",
		},
		{
			name: "judges by the members that have the budget where the pod's own has none",
			eu: { budgets: [] },
			us: { healthy: 2 },
			expected: "waiting BudgetExhausted",
		},
		{
			name: "counts the pods of a member without the budget",
			eu: { healthy: 3 },
			us: { budgets: [], healthy: 2 },
			expected: "waiting BudgetExhausted",
		},
		{
			name: "allows nothing where no pods are expected, as Kubernetes does",
			eu: { expected: known(0) },
			us: { expected: known(0), healthy: 0 },
			expected: "waiting BudgetExhausted",
		},
		{
			name: "waits where more must be healthy than are expected",
			eu: both({ minAvailable: 9 }),
			us: both({ minAvailable: 9 }),
			expected: "waiting BudgetExhausted",
		},
		{
			name: "counts no more healthy pods of a member than it expects: one that claims a thousand pays for nobody else",
			eu: { healthy: 2 },
			us: { healthy: 1_000 },
			expected: "waiting BudgetExhausted",
		},
		{
			name: "lets a member spare the pod that it has beyond what it expects, as in a rollout that surges",
			eu: { ...both({ minAvailable: 6 }), healthy: 4 },
			us: both({ minAvailable: 6 }),
			expected: "grantable",
		},
		{
			name: "counts all healthy pods of a member that does not know how many it expects",
			eu: { ...both({ minAvailable: 6 }), healthy: 2 },
			us: {
				...both({ minAvailable: 6 }),
				healthy: 5,
				expected: { kind: "unknown", reason: "an owner without scale" },
			},
			expected: "grantable",
		},
		{
			name: "grants under minAvailable 0",
			eu: both({ minAvailable: 0 }),
			us: both({ minAvailable: 0 }),
			expected: "grantable",
		},
	];
	for (const { name, eu, us, expected } of rows) {
		test(name, () => expect(judge({ eu, us }).map(summary)).toEqual([expected]));
	}

	test("lets a member spare as many as it has beyond what it expects, and no more", () => {
		const surge = { ...both({ minAvailable: 6 }), healthy: 5 };
		const pods = [presentPod("db-0"), presentPod("db-1"), presentPod("db-2")];
		expect(judge({ eu: surge, us: both({ minAvailable: 6 }) }, ...pods).map(summary)).toEqual([
			"grantable",
			"grantable",
			"waiting BudgetExhausted",
		]);
	});

	test("says how many healthy pods count, whatever a member claims", () => {
		expect(judge({ eu: { healthy: 2 }, us: { healthy: 1_000 } })).toMatchObject([{ need: 5, healthy: 5 }]);
	});

	test("says what is needed, what there is and who uses it up", () => {
		const used = { namespace: "shop", name: "db-7", why: "Reserved", holder: "drain-7f", sinceSeconds: 12 } as const;
		expect(judge({ us: { healthy: 2, unavailable: [used] } })).toEqual([
			{
				candidate: { clusterId: "eu", pod: podReference("db-0") },
				kind: "waiting",
				reason: "BudgetExhausted",
				message: "budget shop/db has no disruption left: 5 of 6 healthy, 5 required",
				budget,
				need: 5,
				expected: 6,
				healthy: 5,
				usedBy: [{ ...used, cluster: "us-1" }],
			},
		]);
	});

	test("says that the controllers are scaled to 0, and not that 0 healthy pods are missing", () => {
		const none = { expected: known(0) };
		expect(judge({ eu: none, us: none })).toMatchObject([
			{ message: "budget shop/db expects no pods, its controllers are scaled to 0: that allows nothing" },
		]);
	});
});

describe("decide() with expected pods that cannot be had", () => {
	const rows: readonly { readonly name: string; readonly spec: Record<string, unknown>; readonly expected: string }[] =
		[
			{ name: "does not need them for minAvailable as a number", spec: { minAvailable: 5 }, expected: "grantable" },
			{ name: "keeps minAvailable as a number", spec: { minAvailable: 6 }, expected: "waiting BudgetExhausted" },
			{
				name: "refuses minAvailable in percent",
				spec: { minAvailable: "1%" },
				expected: "refused ExpectedPodsUnknown",
			},
			{
				name: "refuses maxUnavailable as a number",
				spec: { maxUnavailable: 3 },
				expected: "refused ExpectedPodsUnknown",
			},
			{
				name: "refuses maxUnavailable in percent",
				spec: { maxUnavailable: "100%" },
				expected: "refused ExpectedPodsUnknown",
			},
			{ name: "does not need them while suspended", spec: { maxUnavailable: 0, suspend: true }, expected: "grantable" },
		];
	for (const { name, spec, expected } of rows) {
		test(name, () => {
			expect(judge({ eu: both(spec), us: { ...both(spec), expected: unknown } }).map(summary)).toEqual([expected]);
		});
	}

	test("refuses where only one member's bound needs them", () => {
		const judged = judge({
			eu: both({ minAvailable: 1 }),
			us: { ...both({ minAvailable: "10%" }), expected: unknown },
		});
		expect(judged.map(summary)).toEqual(["refused ExpectedPodsUnknown"]);
	});

	test("asks again where they will be known in a moment", () => {
		expect(judge({ us: { expected: { ...unknown, settles: true } } })).toMatchObject([{ retry: true }]);
		expect(judge({ us: { expected: unknown } })).toMatchObject([{ retry: false }]);
	});

	test("names the owner, the cluster and the way out", () => {
		expect(judge({ us: { expected: unknown } })).toMatchObject([
			{
				message:
					"budget shop/db with maxUnavailable 1 needs the number of expected pods, but in cluster us-1 pod shop/job-0 " +
					'is controlled by Job "job", which has no scale. A budget with minAvailable as a number does not need it',
			},
		]);
	});
});

describe("decide() of a pod for which nobody says how many there should be", () => {
	const bare = presentPod("db-0", { unexpected: "no controller owns it" });
	const rows: readonly { readonly name: string; readonly spec: Record<string, unknown>; readonly expected: string }[] =
		[
			{ name: "keeps it under maxUnavailable", spec: { maxUnavailable: 3 }, expected: "refused ExpectedPodsUnknown" },
			{
				name: "keeps it under minAvailable in percent",
				spec: { minAvailable: "1%" },
				expected: "refused ExpectedPodsUnknown",
			},
			{ name: "grants it under minAvailable as a number", spec: { minAvailable: 1 }, expected: "grantable" },
			{ name: "grants it while suspended", spec: { maxUnavailable: 0, suspend: true }, expected: "grantable" },
		];
	for (const { name, spec, expected } of rows) {
		test(name, () => expect(judge({ eu: both(spec), us: both(spec) }, bare).map(summary)).toEqual([expected]));
	}

	test("keeps one that is not healthy, too: it may be adopted", () => {
		expect(judge({}, { ...bare, healthy: false }).map(summary)).toEqual(["refused ExpectedPodsUnknown"]);
	});

	test("goes on with others, and keeps it for later", () => {
		const judged = judge({}, bare, presentPod("db-1"));
		expect(judged.map(summary)).toEqual(["refused ExpectedPodsUnknown", "grantable"]);
		expect(judged[0]).toMatchObject({
			retry: true,
			message:
				"budget shop/db with maxUnavailable 1 needs the number of expected pods, which is unknown for pod shop/db-0: " +
				"no controller owns it. It can be evicted once a controller adopts it; a budget with minAvailable as a number does not need the number",
		});
	});

	test("keeps it where only one member's bound needs the number", () => {
		const judged = judge({ eu: both({ minAvailable: 1 }), us: both({ minAvailable: "10%" }) }, bare);
		expect(judged.map(summary)).toEqual(["refused ExpectedPodsUnknown"]);
	});
});

describe("decide() over several candidates", () => {
	const unready = (name: string) => presentPod(name, { healthy: false });

	test("uses the allowance up in the order of the candidates", () => {
		const two = both({ maxUnavailable: 2 });
		const judged = judge({ eu: two, us: two }, presentPod("db-2"), presentPod("db-0"), presentPod("db-1"));
		expect(judged.map(summary)).toEqual(["grantable", "grantable", "waiting BudgetExhausted"]);
	});

	test("reports what is left after the grants before", () => {
		const judged = judge({}, presentPod("db-0"), presentPod("db-1"));
		expect(judged[1]).toMatchObject({ message: "budget shop/db has no disruption left: 5 of 6 healthy, 5 required" });
	});

	test("takes nothing for an unready pod while the others are enough", () => {
		const judged = judge({ eu: { healthy: 2 } }, unready("db-0"), unready("db-1"));
		expect(judged.map(summary)).toEqual(["grantable", "grantable"]);
	});

	test("keeps an unready pod while the others are not enough", () => {
		expect(judge({ eu: { healthy: 1 } }, unready("db-0")).map(summary)).toEqual(["waiting BudgetExhausted"]);
	});

	test("takes nothing for pods that wait or are free", () => {
		const judged = judge(
			{},
			{ kind: "free", pod: podReference("db-0"), why: "Terminating" },
			{ kind: "gone", pod: podReference("db-1") },
			presentPod("db-2", { preActivities: ["backup"] }),
			presentPod("db-3"),
		);
		expect(judged.map(summary)).toEqual(["free Terminating", "free Gone", "waiting PreActivityPending", "grantable"]);
	});

	test("never leaves fewer healthy pods than every member's bound asks for", () => {
		const percent = fc.integer({ min: 0, max: 100 }).map((value) => ({ kind: "percent", value }) as const);
		const number = fc.integer({ min: 0, max: 12 }).map((value) => ({ kind: "number", value }) as const);
		const anyBound: fc.Arbitrary<Bound> = fc.record({
			kind: fc.constantFrom("minAvailable", "maxUnavailable"),
			quantity: fc.oneof(percent, number),
		});
		const specOf = ({ kind, quantity }: Bound) =>
			newSpec({ [kind]: quantity.kind === "percent" ? `${quantity.value}%` : quantity.value });
		const member = fc.record({ bound: anyBound, expected: fc.nat(8), healthy: fc.nat(8) });
		fc.assert(
			fc.property(member, member, fc.array(fc.boolean(), { maxLength: 8 }), (eu, us, ready) => {
				const [first, second] = [eu, us].map((each) => ({
					budgets: [memberBudget(specOf(each.bound))],
					expected: known(each.expected),
					healthy: each.healthy,
				}));
				const pods = ready.map((healthy, index) => presentPod(`db-${index}`, { healthy }));
				const judged = pods.length === 0 ? [] : judge({ eu: first ?? {}, us: second ?? {} }, ...pods);
				const granted = judged.filter((judgement, index) => judgement.kind === "grantable" && ready[index]).length;
				const expected = eu.expected + us.expected;
				// A cluster contributes at most its expected pods. All candidates are in the first cluster.
				const left = Math.min(eu.healthy - granted, eu.expected) + Math.min(us.healthy, us.expected);
				if (granted === 0) return;
				for (const { bound } of [eu, us]) expect(left).toBeGreaterThanOrEqual(desiredHealthy(bound, expected));
			}),
		);
	});
});

import { describe, expect, test } from "vitest";
import type { BudgetName } from "../../disruption/budget/budget.ts";
import type { CandidateState, Count, MemberBudget } from "../../disruption/budget/cluster.ts";
import { decide, type Judgement } from "../../disruption/budget/decide.ts";
import type { BudgetCounts } from "../../disruption/budget/allowance.ts";
import { fleetHash } from "../../disruption/budget/fleet.ts";
import { parseLabelSelector } from "../../disruption/budget/selector.ts";
import { budget, memberBudget, newCount, newSpec, podReference, presentPod, selector } from "../support/build-count.ts";

function judge(counts: readonly Count[], memberIds: readonly string[] = ["eu", "us"]): Judgement {
	const [judged] = decide(
		memberIds,
		[{ budget: { name: budget, selector }, counts }],
		[{ clusterId: "eu", pod: podReference("db-0") }],
	);
	if (!judged) throw new Error("there is one candidate, so there is one judgement");
	return judged;
}

function judgeWith(fields: {
	readonly state?: CandidateState;
	readonly eu?: Partial<Count>;
	readonly us?: Partial<Count>;
}): Judgement {
	const candidates = [fields.state ?? presentPod("db-0")];
	return judge([newCount("eu", { candidates, ...fields.eu }), newCount("us", fields.us)]);
}

const budgets = (...specs: readonly unknown[]) => ({ budgets: specs.map((spec) => memberBudget(spec)) });

describe("decide() looks at the candidate first", () => {
	const pod = podReference("db-0");
	const rows: readonly { readonly name: string; readonly state: CandidateState; readonly expected: object }[] = [
		{ name: "lets a gone pod go", state: { kind: "gone", pod }, expected: { kind: "free", why: "Gone" } },
		{
			name: "lets a terminating pod go",
			state: { kind: "free", pod, why: "Terminating" },
			expected: { kind: "free", why: "Terminating" },
		},
		{
			name: "lets a finished pod go",
			state: { kind: "free", pod, why: "Finished" },
			expected: { kind: "free", why: "Finished" },
		},
		{
			name: "waits for a pod that its cluster's view has not seen",
			state: { kind: "unseen", pod },
			expected: {
				kind: "waiting",
				reason: "PodUnseen",
				message: "pod shop/db-0 has not been seen by its cluster's agent yet",
			},
		},
		{
			name: "waits for a pod that another one was granted, and names who",
			state: presentPod("db-0", { reservedBy: { holder: "drain-8a", sinceSeconds: 12 } }),
			expected: { kind: "waiting", reason: "PodReserved", message: "pod shop/db-0 is being evicted by drain-8a" },
		},
		{
			name: "does not let a second one use the reservation of an unready pod either",
			state: presentPod("db-0", { healthy: false, reservedBy: { holder: "drain-8a", sinceSeconds: 12 } }),
			expected: { kind: "waiting", reason: "PodReserved" },
		},
		{
			name: "waits for its pre-activities, and names them",
			state: presentPod("db-0", { preActivities: ["backup", "drain"] }),
			expected: {
				kind: "waiting",
				reason: "PreActivityPending",
				message: "pod shop/db-0 waits for its pre-activity backup, drain",
			},
		},
		{
			name: "waits where the pod's labels have left the budget",
			state: presentPod("db-0", { labels: { app: "web" } }),
			expected: { kind: "waiting", reason: "CoverageChanged" },
		},
	];
	for (const { name, state, expected } of rows) test(name, () => expect(judgeWith({ state })).toMatchObject(expected));

	test("waits where the pod's own cluster says nothing of it", () => {
		expect(judge([newCount("eu"), newCount("us")])).toMatchObject({ kind: "waiting", reason: "PodUnseen" });
	});

	test("does not take another cluster's word for a pod", () => {
		const counts = [newCount("eu"), newCount("us", { candidates: [{ kind: "gone", pod }] })];
		expect(judge(counts)).toMatchObject({ kind: "waiting", reason: "PodUnseen" });
	});

	test("goes by the uid: a replacement of the same name is another pod", () => {
		const replacement = { ...presentPod("db-0"), pod: { ...pod, uid: "uid-of-the-next-one" } };
		expect(judgeWith({ eu: { candidates: [replacement] } })).toMatchObject({ kind: "waiting", reason: "PodUnseen" });
	});
});

describe("decide() and suspension", () => {
	const suspended = newSpec({ maxUnavailable: 0, suspend: true });
	const active = newSpec({ maxUnavailable: 0 });
	const rows: readonly {
		readonly name: string;
		readonly eu: unknown[];
		readonly us: unknown[];
		readonly kind: string;
	}[] = [
		{ name: "lets pass what is suspended in all members", eu: [suspended], us: [suspended], kind: "grantable" },
		{
			name: "keeps a budget that only the pod's own member has suspended",
			eu: [suspended],
			us: [active],
			kind: "waiting",
		},
		{ name: "keeps a budget that only another member has suspended", eu: [active], us: [suspended], kind: "waiting" },
		{ name: "lets pass what is suspended in every member that has it", eu: [suspended], us: [], kind: "grantable" },
	];
	for (const { name, eu, us, kind } of rows) {
		test(name, () => expect(judgeWith({ eu: budgets(...eu), us: budgets(...us) })).toMatchObject({ kind }));
	}

	test("lets no reserved pod pass, suspended or not", () => {
		const state = presentPod("db-0", { reservedBy: { holder: "drain-8a", sinceSeconds: 12 } });
		const both = { eu: budgets(suspended), us: budgets(suspended) };
		expect(judgeWith({ state, ...both })).toMatchObject({ kind: "waiting", reason: "PodReserved" });
	});
});

describe("decide() refuses a budget that members do not have alike", () => {
	const good = newSpec({ maxUnavailable: 1 });
	interface Row {
		readonly name: string;
		readonly eu: Partial<Count>;
		readonly us: Partial<Count>;
		readonly expected: object;
	}
	const rows: readonly Row[] = [
		{
			name: "invalid in one member, which is named",
			eu: budgets(good),
			us: budgets(newSpec({})),
			expected: {
				kind: "refused",
				reason: "InvalidBudget",
				retry: false,
				message:
					"budget shop/db in cluster us-1: cannot enforce budget: neither spec.minAvailable nor spec.maxUnavailable is set",
			},
		},
		{
			name: "with a field that this version does not know",
			eu: budgets(newSpec({ maxUnavailable: 1, unreachableClusters: "AssumeUnavailable" })),
			us: budgets(good),
			expected: { kind: "refused", reason: "InvalidBudget" },
		},
		{
			name: "without a spec at all",
			eu: budgets(good),
			us: budgets(null),
			expected: { kind: "refused", reason: "InvalidBudget" },
		},
		{
			name: "with two selectors, both named",
			eu: budgets(good),
			us: budgets({ selector: { matchLabels: { app: "db", tier: "a" } }, maxUnavailable: 1 }),
			expected: {
				kind: "refused",
				reason: "SelectorsDiffer",
				retry: true,
				message:
					'budget shop/db selects "app=db,tier=a" in cluster us-1 and "app=db" in cluster eu-1: ' +
					"a budget has one selector, the same in all members",
			},
		},
		{
			name: "with a feature that one agent does not announce, which is named",
			eu: { ...budgets(newSpec({ maxUnavailable: 1, probe: { endpoint: "e" } })), features: ["Probe"] },
			us: { ...budgets(good), features: [] },
			expected: {
				kind: "refused",
				reason: "FeatureMissing",
				message: "budget shop/db in cluster eu-1 uses spec.probe, which the agent of us-1 does not support",
			},
		},
		{
			// A newer agent would report the probe's result, but this version would ignore it.
			name: "with a feature that all agents announce and this version does not have",
			eu: { ...budgets(newSpec({ maxUnavailable: 1, probe: { endpoint: "e" } })), features: ["Probe"] },
			us: { ...budgets(good), features: ["Probe"] },
			expected: { kind: "refused", reason: "FeatureMissing" },
		},
		{
			name: "that is gone from all members",
			eu: { budgets: [memberBudget(good, { namespace: "shop", name: "other" })] },
			us: { budgets: [] },
			// The other budget covers the pod but was not counted.
			expected: { kind: "waiting", reason: "CoverageChanged" },
		},
	];
	for (const { name, eu, us, expected } of rows)
		test(name, () => expect(judgeWith({ eu, us })).toMatchObject(expected));

	test("but not with a probe that is switched off", () => {
		const off = budgets(newSpec({ maxUnavailable: 1, probe: { endpoint: "e", enabled: false } }));
		expect(judgeWith({ eu: off, us: off })).toMatchObject({ kind: "grantable" });
	});

	test("but counts again where all members have changed the selector meanwhile", () => {
		const changed = budgets({
			selector: { matchExpressions: [{ key: "app", operator: "Exists" }] },
			maxUnavailable: 1,
		});
		expect(judgeWith({ eu: changed, us: changed })).toMatchObject({
			kind: "waiting",
			reason: "CoverageChanged",
			message: 'budget shop/db selects "app" now, and was counted with "app=db"',
		});
	});
});

describe("decide() runs over the one declared fleet", () => {
	const eu = () => newCount("eu", { candidates: [presentPod("db-0")] });

	test("refuses where members declare different fleets, and names who does", () => {
		const counts = [eu(), newCount("us", { fleetHash: fleetHash(["eu", "us", "ap"]) })];
		expect(judge(counts)).toMatchObject({
			kind: "refused",
			reason: "FleetsDiffer",
			retry: true,
			message:
				"cluster us-1 declares another fleet than the round runs over: ConfigMap xpdb-fleet must list the same members in every cluster",
		});
	});

	test("refuses a round over fewer clusters than the fleet has", () => {
		expect(judge([eu()], ["eu"])).toMatchObject({ kind: "refused", reason: "FleetsDiffer" });
	});

	const rows: readonly { readonly name: string; readonly counts: readonly Count[]; readonly members?: string[] }[] = [
		{ name: "refuses where a member has no count", counts: [eu()] },
		{ name: "refuses where a member was counted twice", counts: [eu(), newCount("us"), newCount("us")] },
		{ name: "refuses where a member was counted in the place of another one", counts: [eu(), eu()] },
		{
			// Two contexts lead to one cluster, so its pods would count twice.
			name: "refuses where one cluster is two members",
			counts: [eu(), newCount("us"), newCount("us")],
			members: ["eu", "us", "us"],
		},
		{ name: "refuses a count of a cluster that is no member", counts: [eu(), newCount("us"), newCount("ap")] },
	];
	for (const { name, counts, members } of rows) {
		test(name, () => expect(judge(counts, members)).toMatchObject({ kind: "refused", reason: "FleetsDiffer" }));
	}

	test("names the member that has no count", () => {
		expect(judge([eu()])).toMatchObject({
			message: "budget shop/db was not counted once in every member of the fleet: cluster us",
		});
	});
});

describe("decide() for a pod under several budgets", () => {
	const other: BudgetName = { namespace: "shop", name: "zone-a" };
	const zoneSelector = parseLabelSelector({ matchLabels: { zone: "a" } }, "spec.selector");
	const inZone = presentPod("db-0", { labels: { app: "db", zone: "a" } });
	const onlyDb = presentPod("db-1");
	const zoneBudget = (spec: Record<string, unknown>) =>
		memberBudget({ selector: { matchLabels: { zone: "a" } }, ...spec }, other);
	const dbBudget = memberBudget(newSpec({ maxUnavailable: 1 }));

	function counted(zoneSpec: Record<string, unknown>, zoneHealthy: number, all: MemberBudget[] = []): BudgetCounts[] {
		const members = [dbBudget, zoneBudget(zoneSpec), ...all];
		const candidates = [inZone, onlyDb];
		const of = (fields: Partial<Count>) => [
			newCount("eu", { budgets: members, candidates, ...fields }),
			newCount("us", { budgets: members }),
		];
		return [
			{ budget: { name: budget, selector }, counts: of({}) },
			{ budget: { name: other, selector: zoneSelector }, counts: of({ healthy: zoneHealthy - 1 }) },
		];
	}

	function judgeBoth(counts: readonly BudgetCounts[]): readonly Judgement[] {
		return decide(
			["eu", "us"],
			counts,
			[inZone, onlyDb].map(({ pod }) => ({ clusterId: "eu", pod })),
		);
	}

	test("grants under all of them, and uses all of them up", () => {
		const [first, second] = judgeBoth(counted({ maxUnavailable: 1 }, 4));
		expect(first).toMatchObject({ kind: "grantable", budgets: [budget, other] });
		expect(second).toMatchObject({ kind: "waiting", reason: "BudgetExhausted", budget });
	});

	test("grants under none where one has no room, and uses none of them up", () => {
		const [first, second] = judgeBoth(counted({ maxUnavailable: 0 }, 4));
		expect(first).toMatchObject({ kind: "waiting", reason: "BudgetExhausted", budget: other });
		expect(second).toMatchObject({ kind: "grantable", budgets: [budget] });
	});

	test("refuses the pod where one of them cannot be enforced, and judges the others", () => {
		const [first, second] = judgeBoth(counted({ maxUnavailable: "half" }, 4));
		expect(first).toMatchObject({ kind: "refused", reason: "InvalidBudget" });
		expect(second).toMatchObject({ kind: "grantable" });
	});

	test("waits for the pod where one member's count has not seen it yet", () => {
		const [db, zone] = counted({ maxUnavailable: 1 }, 4);
		if (!db || !zone) throw new Error("two budgets were counted");
		const [eu, us] = zone.counts;
		if (!eu || !us) throw new Error("two members were counted");
		const unseen = { ...eu, candidates: [{ kind: "unseen", pod: inZone.pod } as const, onlyDb] };
		const judged = judgeBoth([db, { ...zone, counts: [unseen, us] }]);
		expect(judged[0]).toMatchObject({ kind: "waiting", reason: "PodUnseen" });
	});

	test("counts a pod as healthy where any of its counts says so", () => {
		const [db, zone] = counted({ maxUnavailable: 1 }, 3);
		if (!db || !zone) throw new Error("two budgets were counted");
		const unready = db.counts.map((count) => ({
			...count,
			candidates: count.candidates.map((state) => (state.kind === "present" ? { ...state, healthy: false } : state)),
		}));
		const judged = judgeBoth([{ ...db, counts: unready }, zone]);
		// The zone has 5 of 6 healthy pods, so another eviction would be too many.
		expect(judged[0]).toMatchObject({ kind: "waiting", reason: "BudgetExhausted", budget: other });
	});

	test("waits where another member's budget covers the pod and was not counted", () => {
		const counts = [
			newCount("eu", { candidates: [inZone] }),
			newCount("us", { budgets: [dbBudget, zoneBudget({ maxUnavailable: 1 })] }),
		];
		expect(judge(counts)).toMatchObject({
			kind: "waiting",
			reason: "CoverageChanged",
			message: "pod shop/db-0 is also covered by budget shop/zone-a",
		});
	});

	test("refuses by name where a budget of the namespace has a selector that nobody can read", () => {
		const broken = memberBudget({ selector: "all", maxUnavailable: 1 }, { namespace: "shop", name: "broken" });
		expect(judgeWith({ us: { budgets: [dbBudget, broken] } })).toMatchObject({
			kind: "refused",
			reason: "InvalidBudget",
			message: "budget shop/broken in cluster us-1: cannot read selector: spec.selector must be an object",
		});
	});

	test("does not mind a budget of another namespace", () => {
		const elsewhere = memberBudget(newSpec({ maxUnavailable: 0 }), { namespace: "bank", name: "db" });
		expect(judgeWith({ us: { budgets: [dbBudget, elsewhere] } })).toMatchObject({ kind: "grantable" });
	});
});

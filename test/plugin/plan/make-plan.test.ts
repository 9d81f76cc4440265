import { describe, expect, test } from "vitest";
import { makePlan } from "../../../plugin/plan/make-plan.ts";
import { planNeverReasons, planWaitReasons } from "../../../plugin/plan/plan.ts";
import { databasePod, type FactFields, newFacts, planOptions } from "../../support/build-facts.ts";
import { newV1Pod } from "../../support/build-v1-pod.ts";
import { createValidator, readSchema, strictSchema } from "../../support/json-schema.ts";

const plan = (fields: FactFields, options: Partial<typeof planOptions> = {}) =>
	makePlan(newFacts(fields), { ...planOptions, ...options });
const validate = createValidator(strictSchema("plan-v1"));
const [a, b, c] = ["db-0", "db-1", "db-2"].map((name) => databasePod(name));
const three: FactFields = { eu: [a, b].flatMap((pod) => pod ?? []), us: [c].flatMap((pod) => pod ?? []) };
const used = { namespace: "shop", name: "db-9", why: "Reserved", holder: "drain-7f" } as const;
const garbled = { reason: "GarbledLease", message: "Lease x is garbled" } as const;
const otherFleet = { reason: "FleetsDiffer", message: "eu knows us, which its fleet does not list" } as const;
const localVolume = {
	claim: "data-db-0",
	volume: "pv-1",
	required: {
		nodeSelectorTerms: [
			{ matchExpressions: [{ key: "kubernetes.io/hostname", operator: "In", values: ["eu-n0", "us-n0"] }] },
		],
	},
};

describe("makePlan()", () => {
	test("has a wave for each pod of a budget of one, with whom it waits for", () => {
		const planned = plan(three);
		expect(planned.pods.map(({ context, pod, wave, waits }) => [context, pod, wave, waits])).toEqual([
			["eu", "db-0", 1, []],
			["eu", "db-1", 2, [expect.objectContaining({ reason: "BudgetExhausted", own: true, podCount: 1 })]],
			[
				"us",
				"db-2",
				3,
				[
					{
						reason: "BudgetExhausted",
						message: "budget shop/db has no disruption left: 5 of 6 healthy, 5 required",
						own: true,
						budget: "shop/db",
						pods: [{ context: "eu", namespace: "shop", pod: "db-1" }],
						podCount: 1,
					},
				],
			],
		]);
		expect(planned).toMatchObject({ possible: true, exitCode: 0, waves: 3, impossible: [], warnings: [] });
		// The likely 17.5 s are three terminations of 2.5 s and two starts of 5 s. The range is half to twice as much, but at most 4:1.
		expect(planned.seconds).toEqual({ atLeast: 8, atMost: 30, measuredPods: 3, assumedPods: 0 });
		expect(planned.budgets).toEqual([
			{
				kind: "XPodDisruptionBudget",
				namespace: "shop",
				name: "db",
				bound: "maxUnavailable 1",
				suspended: false,
				need: 5,
				healthy: 6,
				expected: 6,
				allowed: 1,
				pods: 3,
			},
		]);
		expect(planned.nodes).toEqual([
			{ context: "eu", node: "eu-n0", pods: 2, left: 0, impossible: 0, refused: false, firstWave: 1, lastWave: 2 },
			{ context: "us", node: "us-n0", pods: 1, left: 0, impossible: 0, refused: false, firstWave: 3, lastWave: 3 },
		]);
	});

	test("lists budgets by their names, in whatever order they were counted", () => {
		const facts = newFacts(three);
		const counted = facts.fleet?.budgets.get("shop/db");
		if (!counted || !facts.fleet) throw new Error("facts without a budget");
		const budgetsIn = (keys: readonly string[]): readonly string[] => {
			const budgets = new Map(keys.map((key) => [key, counted]));
			const fleet = {
				...facts.fleet,
				budgets,
				coverageOf: () => ({ kind: "none" }) as const,
				stateOf: () => undefined,
			};
			return makePlan({ ...facts, fleet }, planOptions).budgets.map(({ namespace, name }) => `${namespace}/${name}`);
		};
		const sorted = ["a/z", "shop/cart", "shop/db"];
		expect(budgetsIn(["shop/db", "a/z", "shop/cart"])).toEqual(sorted);
		expect(budgetsIn(sorted)).toEqual(sorted);
	});

	test("orders the pods of a node as drain does, agents last", () => {
		const agent = newV1Pod("agent", { namespace: "xpdb-system", labels: { "app.kubernetes.io/name": "xpdb-agent" } });
		const first = newV1Pod("first", { labels: { step: "1" } });
		const second = newV1Pod("second", { labels: { step: "2" } });
		const { pods } = plan({ eu: [agent, second, first] }, { order: { kind: "label", key: "step" } });
		expect(pods.map(({ pod, wave, waits }) => [pod, wave, waits[0]?.reason])).toEqual([
			["first", 1, undefined],
			["second", 2, "PodsBefore"],
			["agent", 3, "PodsBefore"],
		]);
	});

	test("does not say how long others take", () => {
		const planned = plan({ ...three, counts: { us: { healthy: 2, unavailable: [used] } } });
		expect(planned).toMatchObject({ possible: true, exitCode: 0, seconds: { atLeast: 8, atMost: null } });
		expect(planned.pods[0]?.waits).toEqual([
			{
				reason: "BudgetExhausted",
				message:
					"budget shop/db has no disruption left: 5 of 6 healthy, 5 required; used by shop/db-9 in us-1: being evicted by drain-7f",
				own: false,
			},
		]);
	});

	test("knows nothing of a budget whose members are of different fleets", () => {
		const planned = plan({ ...three, counts: { us: { fleetHash: "of another fleet" } } });
		expect(planned).toMatchObject({ possible: false, impossible: [{ reason: "FleetsDiffer" }, {}, {}] });
		expect(planned.budgets).toMatchObject([{ need: null, healthy: null, expected: null, allowed: null }]);
	});

	test("lets no pod go that nobody knows the budgets of", () => {
		const never = { reason: "FleetsDiffer", message: "cluster us-1 declares another fleet" } as const;
		const planned = plan({ ...three, coverage: { kind: "never", never } });
		expect(planned).toMatchObject({ possible: false, exitCode: 3 });
		expect(planned.impossible).toMatchObject([never, never, never]);
	});

	test("warns of what is not held, not known, or may be too slow", () => {
		const planned = plan(
			{
				...three,
				spec: { maxUnavailable: 0, suspend: true },
				cluster: { volumes: { of: () => [], problems: ["eu: claims are forbidden"] }, isMember: true },
				filtered: { warnings: "deleting Pods with local storage: shop/db-0" },
			},
			{ timeoutMs: 10_000 },
		);
		expect(planned.warnings).toEqual([
			"eu/eu-n0: deleting Pods with local storage: shop/db-0",
			"budget shop/db is suspended and blocks no eviction, it does not say by whom",
			"eu: claims are forbidden",
			"eu/eu-n0 may take longer than its timeout of 10s",
			"us/us-n0 may take longer than its timeout of 10s",
		]);
		expect(planned).toMatchObject({ possible: true, waves: 1 });
	});

	test("says that only the cluster's own budgets hold without an agent", () => {
		const planned = plan({ ...three, cluster: { isMember: false } });
		expect(planned.warnings[0]).toMatch(/^eu: no xpdb agent/);
		expect(planned.waves).toBe(1);
	});

	describe("where no node would take what replaces a pod", () => {
		const planned = plan({ ...three, volumes: [localVolume] });

		test("lets it go, as a drain does, and says who waits for ever", () => {
			expect(planned.pods.map(({ pod, replacement }) => [pod, replacement])).toEqual([
				[
					"db-0",
					{
						reason: "NoOtherNode",
						message: "its volume data-db-0 (PersistentVolume pv-1) can be reached from eu-n0 only",
					},
				],
			]);
			expect(planned.impossible.map(({ pod, reason }) => [pod, reason])).toEqual([
				["db-1", "BudgetStaysUsedUp"],
				["db-2", "BudgetStaysUsedUp"],
			]);
			expect(planned).toMatchObject({ possible: false, exitCode: 3, waves: 1 });
			expect(validate(planned)).toEqual([]);
		});

		test("warns of those that go", () => {
			expect(planned.warnings).toEqual([
				"eu: the replacement of shop/db-0 will find no node: its volume data-db-0 (PersistentVolume pv-1) can be " +
					"reached from eu-n0 only; until then it counts as down for budget shop/db",
			]);
		});

		test("is possible where nobody waits for it", () => {
			const free = plan({
				eu: [newV1Pod("web-0", { owner: { kind: "ReplicaSet", name: "web" } })],
				cluster: { nodes: [] },
			});
			expect(free).toMatchObject({ possible: true, exitCode: 0, impossible: [] });
			expect(free.warnings).toEqual([
				"eu: the replacement of default/web-0 will find no node: no node of the cluster is left",
			]);
		});

		test("does not say how long it takes until the other nodes take pods again", () => {
			const cordoned = (name: string) => ({ metadata: { name }, spec: { unschedulable: true } });
			const waiting = plan({ ...three, cluster: { nodes: [cordoned("eu-n1"), cordoned("us-n1")] } });
			expect(waiting).toMatchObject({ possible: true, exitCode: 0, seconds: { atMost: null } });
			expect(waiting.warnings).toEqual([
				"eu: the replacements of shop/db-0, shop/db-1 will wait: the other nodes that fit take no pods at present: " +
					"eu-n1, us-n1; until then they count as down for budget shop/db",
				"us: the replacement of shop/db-2 will wait: the other nodes that fit take no pods at present: eu-n1, us-n1; " +
					"until then it counts as down for budget shop/db",
			]);
		});
	});

	const never: readonly { readonly name: string; readonly fields: FactFields; readonly expected: readonly string[] }[] =
		[
			{ name: "a budget of 0", fields: { spec: { maxUnavailable: 0 } }, expected: ["BudgetNeverMet"] },
			{
				name: "an owner without scale",
				fields: { counts: { us: { expected: { kind: "unknown", reason: "Job has no scale" } } } },
				expected: ["ExpectedPodsUnknown"],
			},
			{ name: "a Lease that cannot be read", fields: { never: garbled }, expected: ["GarbledLease"] },
			{ name: "a member of another fleet", fields: { never: otherFleet }, expected: ["FleetsDiffer"] },
			{
				name: "a budget that cannot be read",
				fields: {
					coverage: { kind: "never", never: { reason: "InvalidBudget", message: "budget shop/db: no bound" } },
				},
				expected: ["InvalidBudget"],
			},
		];
	for (const { name, fields, expected } of never) {
		test(`${name} is never possible`, () => {
			const planned = plan({ ...three, ...fields });
			expect(planned).toMatchObject({ possible: false, exitCode: 3, pods: [], waves: 0 });
			expect([...new Set(planned.impossible.map(({ reason }) => reason))]).toEqual(expected);
			expect(planned.impossible.map(({ pod }) => pod)).toEqual(["db-0", "db-1", "db-2"]);
			expect(validate(planned)).toEqual([]);
		});
	}

	test("a pod that is not allowed to go keeps its node, and no other", () => {
		const bare = newV1Pod("bare");
		const refused = [{ pod: bare, message: "Pods that declare no controller (use --force to override)" }];
		const planned = plan({ ...three, filtered: { refused } });
		expect(planned.pods.map(({ pod }) => pod)).toEqual(["db-2"]);
		expect(planned.impossible).toMatchObject([{ pod: "bare", reason: "PodsNotAllowed", owner: "bare" }]);
		expect(planned.nodes.map(({ refused: isRefused }) => isRefused)).toEqual([true, false]);
	});
});

describe("the published schema of a plan", () => {
	const samples = {
		"nothing to do": plan({}),
		waves: plan(three),
		others: plan({ ...three, counts: { us: { healthy: 2, unavailable: [used] } } }),
		groups: plan(
			{ eu: [newV1Pod("x", { labels: { s: "1" } }), newV1Pod("y")] },
			{ order: { kind: "label", key: "s" } },
		),
		impossible: plan({ ...three, spec: { maxUnavailable: 0 } }),
		garbled: plan({ ...three, never: garbled }),
	};
	for (const [name, sample] of Object.entries(samples)) {
		test(`has all of a plan with ${name}`, () => expect(validate(sample)).toEqual([]));
	}

	test("refuses what it does not name", () => {
		expect(validate({ ...samples.waves, more: 1 })).not.toEqual([]);
		expect(validate({ ...samples.waves, waves: -1 })).not.toEqual([]);
	});

	test("has the same closed lists of reasons as the code", () => {
		expect(readSchema("plan-v1")).toMatchObject({
			properties: {
				impossible: { items: { properties: { reason: { enum: planNeverReasons } } } },
				pods: { items: { properties: { waits: { items: { properties: { reason: { enum: planWaitReasons } } } } } } },
			},
		});
	});
});

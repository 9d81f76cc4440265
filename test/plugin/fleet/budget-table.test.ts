import { describe, expect, test } from "vitest";
import type { Count, MemberBudget } from "../../../disruption/budget/cluster.ts";
import type { ListedBudgets } from "../../../disruption/budget/coverage-judgement.ts";
import { fleetHash } from "../../../disruption/budget/fleet.ts";
import { AgentUnavailableError } from "../../../disruption/errors.ts";
import { parseLabelSelector } from "../../../disruption/budget/selector.ts";
import type { WatchedBudget, WatchOptions } from "../../../proto/agent-cluster.ts";
import { budgetRow, type CountOfMember, readBudgetRows } from "../../../plugin/fleet/budget-table.ts";
import type { Fleet } from "../../../plugin/fleet/fleet.ts";
import { FakeFleet } from "../../support/fake-fleet.ts";

const name = { namespace: "shop", name: "db" };
const selector = { matchLabels: { app: "db" } };
const counted = { name, selector: parseLabelSelector(selector, "spec.selector") };

function count(
	cluster: string,
	healthy: number,
	expected: number | string,
	spec?: object,
	more: Partial<Count> = {},
): CountOfMember {
	const budgets: readonly MemberBudget[] = spec ? [{ name, spec: { selector, ...spec } }] : [];
	const count: Count = {
		clusterId: cluster,
		clusterName: cluster,
		fleetHash: "",
		features: [],
		budgets,
		expected: typeof expected === "number" ? { kind: "known", pods: expected } : { kind: "unknown", reason: expected },
		healthy,
		candidates: [],
		unavailable: [],
		...more,
	};
	return { cluster, count };
}

interface Row {
	readonly name: string;
	readonly counts: readonly CountOfMember[];
	readonly expected: object;
}

const unknown = { allowed: undefined, healthy: undefined, need: undefined, expected: undefined };

const rows: readonly Row[] = [
	{
		name: "sums over the members",
		counts: [count("eu", 3, 3, { maxUnavailable: 1 }), count("us", 3, 3, { maxUnavailable: 1 })],
		expected: { allowed: 1, healthy: 6, need: 5, expected: 6, suspended: false, problem: undefined },
	},
	{
		name: "is used up, not negative",
		counts: [count("eu", 1, 3, { minAvailable: 3 })],
		expected: { allowed: 0, healthy: 1, need: 3 },
	},
	{
		name: "the highest bound of the members counts",
		counts: [count("eu", 3, 3, { minAvailable: 2 }), count("us", 4, 4, { minAvailable: "50%" })],
		expected: { allowed: 3, need: 4, healthy: 7 },
	},
	{
		name: "no expected pods allow nothing",
		counts: [count("eu", 0, 0, { maxUnavailable: 1 })],
		expected: { allowed: 0, expected: 0 },
	},
	{
		name: "an unknown number of expected pods refuses a bound that needs it",
		counts: [count("eu", 3, "the owner has no scale", { maxUnavailable: 1 })],
		expected: { ...unknown, problem: expect.stringContaining("in cluster eu the owner has no scale") },
	},
	{
		name: "an unknown number of expected pods is nothing to minAvailable as a number",
		counts: [count("eu", 3, "the owner has no scale", { minAvailable: 2 })],
		expected: { allowed: 1, need: 2, expected: undefined, problem: undefined },
	},
	{
		name: "a member without an answer makes all sums unknown",
		counts: [count("eu", 3, 3, { minAvailable: 2 }), { cluster: "us", count: new Error("no answer") }],
		expected: { ...unknown, problem: "us: no answer" },
	},
	{
		name: "suspended in all members is off",
		counts: [count("eu", 3, 3, { maxUnavailable: 1, suspend: true })],
		expected: { suspended: true, allowed: undefined, problem: undefined },
	},
	{
		name: "suspended in one member is not off",
		counts: [count("eu", 3, 3, { maxUnavailable: 1, suspend: true }), count("us", 3, 3, { maxUnavailable: 1 })],
		expected: { suspended: false, allowed: 1 },
	},
	{
		name: "a field that an agent does not understand refuses",
		counts: [count("eu", 3, 3, { maxUnavailable: 1, probe: { endpoint: "x:1" } })],
		expected: { ...unknown, problem: expect.stringContaining("which the agent of eu does not support") },
	},
	{
		name: "a field that this version does not understand refuses, whatever the agents do",
		counts: [count("eu", 3, 3, { maxUnavailable: 1, probe: { endpoint: "x:1" } }, { features: ["Probe"] })],
		expected: { ...unknown, problem: expect.stringContaining("which this version of xpdb does not support") },
	},
	{
		name: "selectors that differ refuse and are named",
		counts: [count("eu", 3, 3, { maxUnavailable: 1 }), count("us", 3, 3, { maxUnavailable: 1, selector: {} })],
		expected: {
			...unknown,
			problem: expect.stringMatching(/budget shop\/db selects "" in cluster us and "app=db" in cluster eu/),
		},
	},
	{
		name: "a budget that cannot be read refuses and is named",
		counts: [count("eu", 3, 3, {})],
		expected: { ...unknown, problem: expect.stringMatching(/budget shop\/db in cluster eu: .*neither/) },
	},
	{
		name: "a member of another fleet refuses and is named",
		counts: [count("eu", 3, 3, { maxUnavailable: 1 }), count("us", 3, 3, {}, { fleetHash: "other" })],
		expected: { ...unknown, problem: expect.stringContaining("cluster us declares another fleet") },
	},
	{
		name: "a selector that was changed since it was listed is counted anew",
		counts: [count("eu", 3, 3, { maxUnavailable: 1, selector: {} })],
		expected: { ...unknown, problem: expect.stringContaining('budget shop/db selects "" now') },
	},
];

const idsOf = (counts: readonly CountOfMember[]): readonly string[] => counts.map(({ cluster }) => cluster);

/** Gives all members the same fleet hash, except those that already have one. */
function ofOneFleet(counts: readonly CountOfMember[]): readonly CountOfMember[] {
	const hash = fleetHash(idsOf(counts));
	return counts.map(({ cluster, count: found }) => ({
		cluster,
		count: found instanceof Error || found.fleetHash !== "" ? found : { ...found, fleetHash: hash },
	}));
}

describe("budgetRow()", () => {
	for (const { name: title, counts, expected } of rows) {
		test(title, () => {
			expect(budgetRow(counted, idsOf(counts), ofOneFleet(counts))).toMatchObject(expected);
		});
	}

	test("shows each member's pods", () => {
		const counts = [
			count("eu", 2, 3, { minAvailable: 1 }),
			count("us", 1, "x"),
			{ cluster: "ap", count: new Error("down") },
		];
		const { perCluster } = budgetRow(counted, idsOf(counts), ofOneFleet(counts));
		expect([...perCluster]).toEqual([
			["eu", { healthy: 2, expected: 3 }],
			["us", { healthy: 1, expected: undefined }],
			["ap", { healthy: undefined, expected: undefined }],
		]);
	});
});

describe("readBudgetRows()", () => {
	function fleetOf(fake: FakeFleet, listedAhead?: ListedBudgets): Fleet {
		return {
			members: fake.members,
			descriptions: new Map(fake.members.map((member) => [member.id, member.description])),
			problems: [],
			memberOf: () => undefined,
			contextOf: () => undefined,
			agentNamespaces: () => [],
			listBudgets: (namespaces) => fake.listBudgets(namespaces),
			listedAhead,
			reconnect: () => fake.reconnect(),
			leave: () => undefined,
			close: () => undefined,
		};
	}

	test("has a row for every budget of any member, and says of one that nobody can read who has it", async () => {
		const fake = new FakeFleet(["eu", "us"]);
		fake.addBudget("db", { maxUnavailable: 1 });
		fake.member("us").ownBudgets.push({ name: { namespace: "shop", name: "odd" }, spec: { selector: {} } });
		fake.member("eu").addPod("db-0");
		expect(await readBudgetRows(fleetOf(fake), ["shop"])).toMatchObject([
			{ name: "db", healthy: 1, expected: 1, allowed: 1, problem: undefined },
			{ name: "odd", ...unknown, problem: expect.stringContaining("budget shop/odd in cluster us: ") },
		]);
	});

	test("takes what was listed ahead for these namespaces, and asks each member that is missing in it", async () => {
		const fake = new FakeFleet(["eu", "us"]);
		fake.addBudget("db", { maxUnavailable: 1 });
		fake.member("eu").addPod("db-0");
		const [listed] = await fake.listBudgets(["shop"]);
		if (!listed) throw new Error("no list");
		const ahead = { askedAt: 0, namespaces: ["shop"], members: [listed] };
		fake.member("eu").listBudgets = () => Promise.reject(new Error("asked twice"));
		expect(await readBudgetRows(fleetOf(fake, ahead), ["shop"])).toMatchObject([{ name: "db", healthy: 1 }]);
		await expect(readBudgetRows(fleetOf(fake, ahead), [])).rejects.toThrow("asked twice");
		await expect(readBudgetRows(fleetOf(fake), ["shop"])).rejects.toThrow("asked twice");
	});

	describe("with many budgets", () => {
		const named = (index: number): string => `db-${String(index).padStart(2, "0")}`;

		/** Creates 30 budgets in eu and us. Their agents tell all counts by one call, except that of `untold`. `lacking` is missing in us. */
		function manyBudgets({ untold = "", lacking = "" } = {}) {
			const fake = new FakeFleet(["eu", "us"]);
			for (let index = 0; index < 30; index++) fake.addBudget(named(index), { maxUnavailable: 1 });
			fake.member("eu").addPod("db-0");
			const watches: string[] = [];
			for (const member of fake.members) {
				member.watchBudgets = async (namespaces: readonly string[], { signal, onUpdate }: WatchOptions) => {
					watches.push(`${member.name} ${namespaces.join()}`);
					const { looks } = member;
					const changed = await Promise.all(
						fake.budgets
							.filter(({ name: { name: each } }) => member.name === "eu" || each !== lacking)
							.map(async (budget): Promise<WatchedBudget> => {
								if (untold === budget.name.name) return { budget, state: { unknown: "it cannot be counted" } };
								const asked = { budget: budget.name, selector: counted.selector, candidates: [] };
								return { budget, state: await member.look(asked) };
							}),
					);
					member.looks = looks;
					onUpdate({ changed: changed.slice(0, 10), gone: [], complete: false });
					onUpdate({ changed: changed.slice(10), gone: [], complete: true });
					return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
				};
			}
			return { fake, watches };
		}

		test("asks each member once, and looks at no budget", async () => {
			const { fake, watches } = manyBudgets();
			const read = await readBudgetRows(fleetOf(fake), ["shop"]);
			expect(read).toHaveLength(30);
			expect(read[7]).toMatchObject({ name: named(7), healthy: 1, expected: 1, allowed: 1, problem: undefined });
			expect(watches.toSorted()).toEqual(["eu shop", "us shop"]);
			expect(fake.members.map(({ looks }) => looks)).toEqual([0, 0]);
		});

		test("looks at a budget in the member that does not have it", async () => {
			const { fake } = manyBudgets({ lacking: named(7) });
			expect((await readBudgetRows(fleetOf(fake), ["shop"]))[7]).toMatchObject({ healthy: 1, problem: undefined });
			expect(fake.members.map(({ looks }) => looks)).toEqual([0, 1]);
		});

		test("looks at a budget whose count a member does not tell", async () => {
			const { fake } = manyBudgets({ untold: named(7) });
			expect((await readBudgetRows(fleetOf(fake), ["shop"]))[7]).toMatchObject({ healthy: 1, problem: undefined });
			expect(fake.members.map(({ looks }) => looks)).toEqual([1, 1]);
		});

		test("looks at each budget of a member that does not know its counts: it may still list its pods", async () => {
			const { fake } = manyBudgets();
			fake.member("eu").watchBudgets = (_, { onUpdate }) => {
				onUpdate({ changed: [], gone: [], complete: false, unknown: "its watches are dead" });
				return new Promise(() => undefined);
			};
			expect((await readBudgetRows(fleetOf(fake), ["shop"]))[7]).toMatchObject({ healthy: 1, problem: undefined });
			expect(fake.members.map(({ looks }) => looks)).toEqual([30, 0]);
		});

		test("says of every budget if a member gives no answer", async () => {
			const { fake } = manyBudgets();
			fake.member("us").watchBudgets = () => Promise.reject(new AgentUnavailableError("us is silent", "us"));
			const read = await readBudgetRows(fleetOf(fake), ["shop"]);
			for (const row of read) expect(row).toMatchObject({ ...unknown, problem: "us: us is silent" });
			expect(fake.members.map(({ looks }) => looks)).toEqual([0, 0]);
		});

		test("looks at each budget of a member whose agent is too old for that", async () => {
			const { fake } = manyBudgets();
			fake.member("us").watchBudgets = async () => ({ kind: "unsupported" });
			expect((await readBudgetRows(fleetOf(fake), ["shop"]))[7]).toMatchObject({ allowed: 1, problem: undefined });
			expect(fake.members.map(({ looks }) => looks)).toEqual([0, 30]);
		});
	});
});

import { describe, expect, test } from "vitest";
import { BudgetExistence } from "../../../agent/leases/budget-existence.ts";
import { BudgetsElsewhere } from "../../../agent/leases/budgets-elsewhere.ts";
import type { MemberBudget } from "../../../disruption/budget/cluster.ts";
import { AgentUnavailableError } from "../../../disruption/errors.ts";

const budget = { namespace: "shop", name: "db" };
const found: MemberBudget = { name: budget, spec: {} };

interface World {
	inView: readonly MemberBudget[];
	own: MemberBudget | undefined;
	others: (readonly MemberBudget[] | Error)[];
	now: number;
	asked: string[];
}

function setting(change: Partial<World> = {}) {
	const world: World = { inView: [], own: undefined, others: [[], []], now: 0, asked: [], ...change };
	const existence = new BudgetExistence({
		api: {
			getBudget: async () => {
				world.asked.push("own");
				return world.own;
			},
		},
		budgets: { budgets: () => world.inView },
		elsewhere: new BudgetsElsewhere({
			members: async () =>
				world.others.map(async (budgets) => {
					if (budgets instanceof Error) throw budgets;
					return {
						listBudgets: async (namespaces: readonly string[]) => {
							world.asked.push(`peer ${namespaces.join()}`);
							return { clusterId: "peer-id", fleetHash: "5f", budgets };
						},
					};
				}),
			cluster: "eu-1",
		}),
		now: () => world.now,
		cluster: "eu-1",
	});
	return { existence, world };
}

describe("assertExists()", () => {
	test("asks nobody about a budget in the view, and no peer about one that is here", async () => {
		const { existence, world } = setting({ inView: [found] });
		await existence.assertExists(budget);
		expect(world.asked).toEqual([]);
		world.inView = [];
		world.own = found;
		await existence.assertExists(budget);
		expect(world.asked).toEqual(["own"]);
	});

	test("finds a budget that only another member has", async () => {
		await expect(setting({ others: [[], [found]] }).existence.assertExists(budget)).resolves.toBeUndefined();
		const unreachable = new Error("No answer");
		await expect(setting({ others: [unreachable, [found]] }).existence.assertExists(budget)).resolves.toBeUndefined();
	});

	test("refuses a name that no member has, and asks the others once a second for a namespace", async () => {
		const { existence, world } = setting();
		for (let index = 0; index < 100; index++) {
			const asked = existence.assertExists({ namespace: "shop", name: `made-up-${index}` });
			await expect(asked).rejects.toBeInstanceOf(AgentUnavailableError);
		}
		expect(world.asked.filter((each) => each === "peer shop")).toHaveLength(2);
		world.others = [[found], []];
		await expect(existence.assertExists(budget)).rejects.toThrow(
			'cannot acquire budget "shop/db" in cluster "eu-1": it exists in no member that answers',
		);
		world.now = 1_000;
		await existence.assertExists(budget);
	});

	test("lets few pass where a member cannot be asked", async () => {
		const { existence, world } = setting({ others: [new Error("No answer")] });
		const passed = async (tries: number) => {
			let count = 0;
			for (let index = 0; index < tries; index++) {
				const asked = existence.assertExists({ namespace: "shop", name: `made-up-${index}` });
				count += await asked.then(
					() => 1,
					() => 0,
				);
			}
			return count;
		};
		expect(await passed(1_000)).toBe(20);
		world.now = 10_000;
		expect(await passed(1_000)).toBe(5);
	});
});

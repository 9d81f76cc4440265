import { describe, expect, test } from "vitest";
import { BudgetsElsewhere } from "../../../agent/leases/budgets-elsewhere.ts";
import type { MemberBudget } from "../../../disruption/budget/cluster.ts";
import { AgentUnavailableError } from "../../../disruption/errors.ts";

const named = (namespace: string, name: string): MemberBudget => ({ name: { namespace, name }, spec: {} });
const [db, web] = [named("shop", "db"), named("shop", "web")];
const silent = new AgentUnavailableError('cannot reach cluster "eu-3": its fleet gives no address for it', "eu-3");

/** `members` are the other members: their budgets, or the error of one that cannot be reached. */
function elsewhere(...members: readonly (readonly MemberBudget[] | Error)[]): BudgetsElsewhere {
	return new BudgetsElsewhere({
		members: async () =>
			members.map(async (budgets) => {
				if (budgets instanceof Error) throw budgets;
				return { listBudgets: async () => ({ clusterId: "id", fleetHash: "5f", budgets }) };
			}),
		cluster: "eu-2",
	});
}

describe("list()", () => {
	test("gives the budgets of the namespace in all members that answer, and why the others do not", async () => {
		expect(await elsewhere([db, named("other", "db")], [web]).list("shop")).toEqual({ budgets: [db, web] });
		expect(await elsewhere([db], silent).list("shop")).toEqual({ budgets: [db], failure: { reason: silent } });
	});

	test("tells of an answer that failed as of a member that cannot be reached", async () => {
		const failing = new BudgetsElsewhere({
			members: async () => [Promise.resolve({ listBudgets: () => Promise.reject(silent) })],
			cluster: "eu-2",
		});
		expect(await failing.list("shop")).toEqual({ budgets: [], failure: { reason: silent } });
	});
});

describe("find()", () => {
	test("gives the one of that name, also where another member cannot be asked", async () => {
		expect(await elsewhere([web, db]).find(db.name)).toEqual([db]);
		expect(await elsewhere(silent, [db]).find(db.name)).toEqual([db]);
	});

	test("gives none where all have answered", async () => {
		expect(await elsewhere([web]).find(db.name)).toEqual([]);
	});

	test("refuses where none has it and one cannot be asked, and says what helps", async () => {
		const asked = elsewhere([web], silent).find(db.name);
		await expect(asked).rejects.toBeInstanceOf(AgentUnavailableError);
		await expect(asked).rejects.toThrow(/budget "shop\/db".*"eu-2" does not have.*no address.*in every member/);
	});
});

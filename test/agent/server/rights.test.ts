import { describe, expect, test } from "vitest";
import { Rights } from "../../../agent/server/rights.ts";
import type { BudgetName } from "../../../disruption/budget/budget.ts";
import { AgentUnavailableError } from "../../../disruption/errors.ts";
import { buildTokenCaller, operator } from "../../support/build-caller.ts";

const web: BudgetName = { namespace: "shop", name: "web" };
const db: BudgetName = { namespace: "shop", name: "db" };
const caller = buildTokenCaller();

/** Allows what the list contains, and records the requests. "shop/" means the whole namespace. */
function rightsWith(allowed: string[], now: () => number = () => 0) {
	const asked: string[] = [];
	const rights = new Rights({
		reviews: {
			may: async (_user, { namespace, name }) => {
				asked.push(`${namespace}/${name}`);
				return allowed.includes(`${namespace}/${name}`);
			},
		},
		now,
		cluster: "eu-1",
	});
	return { rights, asked };
}

describe("Rights", () => {
	test("asks once for a right to all budgets of the namespace", async () => {
		const { rights, asked } = rightsWith(["shop/"]);
		expect(await rights.refusal(caller, web)).toBeUndefined();
		expect(await rights.refusal(caller, web)).toBeUndefined();
		expect(asked).toEqual(["shop/"]);
	});

	test("asks by name where the namespace is not the caller's, and lets that name be no other's", async () => {
		const { rights, asked } = rightsWith(["shop/web"]);
		expect(await rights.refusal(caller, web)).toBeUndefined();
		expect(await rights.refusal(caller, db)).toBe(
			`User "${operator.username}" may not acquire xpoddisruptionbudgets.x-pdb.form3.tech "db" in namespace "shop" of cluster "eu-1"`,
		);
		expect(asked).toEqual(["shop/", "shop/web", "shop/db"]);
	});

	test("takes a right to single budgets for none to the namespace, and one to a namespace for none to all", async () => {
		const { rights, asked } = rightsWith(["shop/web", "web/"]);
		const refused = `User "${operator.username}" may not acquire xpoddisruptionbudgets.x-pdb.form3.tech`;
		expect(await rights.refusal(caller, { namespace: "shop" })).toBe(
			`${refused} in namespace "shop" of cluster "eu-1"`,
		);
		expect(await rights.refusal(caller, { namespace: "web" })).toBeUndefined();
		expect(await rights.refusal(caller, { namespace: "" })).toBe(`${refused} in all namespaces of cluster "eu-1"`);
		expect(asked).toEqual(["shop/", "web/", "/"]);
	});

	test("takes no right for another one", async () => {
		const verbs: string[] = [];
		const rights = new Rights({
			reviews: {
				may: async (_user, _budget, verb = "acquire") => {
					verbs.push(verb);
					return verb === "acquire";
				},
			},
			now: () => 0,
			cluster: "eu-1",
		});
		expect(await rights.refusal(caller, web)).toBeUndefined();
		expect(await rights.refusal(caller, web, "release")).toContain("may not release xpoddisruptionbudgets");
		expect(verbs).toEqual(["acquire", "release", "release"]);
	});

	test("lets nobody have the right of another token", async () => {
		const allowed = ["shop/"];
		const { rights } = rightsWith(allowed);
		expect(await rights.refusal(caller, web)).toBeUndefined();
		allowed.length = 0;
		expect(await rights.refusal(buildTokenCaller({ tokenHash: "hash-2" }), web)).toContain("may not acquire");
	});

	test("keeps a yes for a minute and a no for three seconds", async () => {
		let now = 0;
		const allowed: string[] = [];
		const { rights, asked } = rightsWith(allowed, () => now);
		expect(await rights.refusal(caller, web)).toBeDefined();
		allowed.push("shop/");
		now = 2_999;
		expect(await rights.refusal(caller, web)).toBeDefined();
		now = 3_000;
		expect(await rights.refusal(caller, web)).toBeUndefined();
		allowed.length = 0;
		now = 62_999;
		expect(await rights.refusal(caller, web)).toBeUndefined();
		now = 63_000;
		expect(await rights.refusal(caller, web)).toBeDefined();
		expect(asked).toHaveLength(5);
	});

	test("keeps no failure, and takes it for no answer", async () => {
		let down = true;
		const rights = new Rights({
			reviews: {
				may: async () => {
					if (down) throw new AgentUnavailableError("No API server", "eu-1");
					return true;
				},
			},
			now: () => 0,
			cluster: "eu-1",
		});
		await expect(rights.refusal(caller, web)).rejects.toBeInstanceOf(AgentUnavailableError);
		down = false;
		expect(await rights.refusal(caller, web)).toBeUndefined();
	});

	test("keeps at most five thousand answers", async () => {
		const { rights, asked } = rightsWith(["shop/"]);
		await rights.refusal(caller, web);
		for (let index = 0; index < 5_000; index++) {
			await rights.refusal(buildTokenCaller({ tokenHash: `hash-${index}-of-another` }), web);
		}
		asked.length = 0;
		await rights.refusal(caller, web);
		expect(asked).toEqual(["shop/"]);
	});

	test("names no user at length", async () => {
		const { rights } = rightsWith([]);
		const refusal = await rights.refusal(buildTokenCaller({ user: { ...operator, username: "x".repeat(5_000) } }), web);
		expect(refusal?.length).toBeLessThan(500);
	});
});

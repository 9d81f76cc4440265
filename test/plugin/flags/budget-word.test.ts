import { expect, test } from "vitest";
import { budgetWord } from "../../../plugin/flags/budget-word.ts";

test.each(["db", "xpdb/db", "XPDB/db", "xpoddisruptionbudgets.x-pdb.form3.tech/db"])("%s is the budget db", (word) => {
	expect(budgetWord("suspend", [word])).toBe("db");
});

test.each([
	{ words: [], message: "USAGE: leases release BUDGET [flags]" },
	{ words: ["a", "b"], message: "USAGE: leases release BUDGET [flags]" },
	{ words: [""], message: "resource name may not be empty" },
	{ words: ["xpdb/"], message: "resource name may not be empty" },
	{ words: ["shop/"], message: '"shop/" is not a budget: write NAME or xpdb/NAME' },
	{ words: ["shop/db"], message: '"shop/db" is not a budget: write NAME or xpdb/NAME' },
])("$words is none", ({ words, message }) => {
	expect(() => budgetWord("leases release", words)).toThrow(expect.objectContaining({ name: "UsageError", message }));
});

test("a budget with its namespace, as screens and waits write it, gets the command that was meant", () => {
	expect(() => budgetWord("leases release", ["shop/db"])).toThrow(
		expect.objectContaining({ hint: "Give the namespace as a flag: kubectl xpdb leases release db -n shop" }),
	);
});

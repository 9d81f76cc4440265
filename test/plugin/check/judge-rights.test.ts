import { describe, expect, test } from "vitest";
import { judgeRights } from "../../../plugin/check/judge-rights.ts";
import { neededRights, type Right } from "../../../plugin/check/needed-rights.ts";
import { newContext } from "../../support/build-context.ts";

async function missing(kind: keyof ReturnType<typeof neededRights>, user: string) {
	const wanted: readonly Right[] = neededRights("xpdb-system", "xpdb-operator", undefined)[kind];
	const facts = {
		rights: async () => ({ kind: "read", value: false }) as const,
		user: Promise.resolve({ kind: "read", value: user } as const),
	};
	const { findings } = await judgeRights(wanted, "EvictRightMissing", facts, newContext("eu"));
	return findings;
}

describe("the command that gives missing rights", () => {
	const rowsOfUsers = [
		[
			"alice",
			"kubectl create clusterrolebinding xpdb-operators-alice --clusterrole=xpdb-operators --user=alice --context eu",
		],
		[
			"system:serviceaccount:ci:bot",
			"kubectl create clusterrolebinding xpdb-operators-bot --clusterrole=xpdb-operators --serviceaccount=ci:bot --context eu",
		],
		["", "kubectl auth can-i --list --context eu"],
	] as const;
	for (const [user, fix] of rowsOfUsers) {
		test(`binds ${user === "" ? "nobody whose name is not known" : user}`, async () => {
			expect(await missing("evict", user)).toMatchObject([{ fix }]);
		});
	}

	test("binds to the Role of the agents' namespace for what is needed there", async () => {
		expect(await missing("token", "alice")).toMatchObject([
			{
				fix: "kubectl create rolebinding xpdb-operators-alice -n xpdb-system --role=xpdb-operators --user=alice --context eu",
			},
		]);
	});
});

test("what is missing is told in kubectl's words, with the name of whoever lacks it", async () => {
	expect(await missing("token", "alice")).toMatchObject([
		{ message: 'user "alice" may not create serviceaccounts/token "xpdb-operator" in namespace xpdb-system' },
	]);
});

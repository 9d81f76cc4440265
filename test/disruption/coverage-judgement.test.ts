import { describe, expect, test } from "vitest";
import type { MemberBudget } from "../../disruption/budget/cluster.ts";
import {
	type BudgetsOfMember,
	type CoverageJudgement,
	judgeCoverage,
	type ListedBudgets,
	type PodVersion,
} from "../../disruption/budget/coverage-judgement.ts";
import { fleetHash } from "../../disruption/budget/fleet.ts";

const hash = fleetHash(["1", "2"]);
const inShop = (name: string, spec: unknown): MemberBudget => ({ name: { namespace: "shop", name }, spec });
const ofDb = inShop("db", { selector: { matchLabels: { app: "db" } }, maxUnavailable: 1 });
const ofWeb = inShop("web", { selector: { matchLabels: { app: "web" } }, maxUnavailable: 1 });
const unreadable = inShop("odd", { selector: 3 });

const member = (id: string, budgets: readonly MemberBudget[], fleet = hash): BudgetsOfMember => ({
	clusterId: id,
	clusterName: `c${id}`,
	fleetHash: fleet,
	budgets,
});

interface Row {
	readonly name: string;
	readonly second: BudgetsOfMember | undefined;
	readonly listed?: Partial<ListedBudgets>;
	readonly version?: Partial<PodVersion>;
	readonly memberIds?: readonly string[];
	/** By default, now. */
	readonly triedAt?: number;
	readonly expected: CoverageJudgement;
}

const uncovered = { kind: "uncovered", resourceVersion: "7" } as const;
const byUid = { kind: "uncovered" } as const;
const listAgain = { kind: "listAgain" } as const;
const readAgain = { kind: "readAgain" } as const;
const fleetsDiffer = {
	kind: "fleetsDiffer",
	message:
		"cluster c2 declares another fleet than c1, c2: ConfigMap xpdb-fleet must list the same members in every cluster",
} as const;

/** Now is 10,000 ms. The list was requested and the pod was read at 9,500 ms, and the first member has no budgets. */
const rows: readonly Row[] = [
	{ name: "a pod that no budget of its namespace selects", second: member("2", [ofWeb]), expected: uncovered },
	{ name: "a pod that a budget of one member selects", second: member("2", [ofDb, ofWeb]), expected: covered("db") },
	{
		name: "a budget that nobody can read",
		second: member("2", [unreadable]),
		expected: { kind: "unreadable", budget: "shop/odd", message: expect.stringContaining("budget shop/odd") },
	},
	{ name: "a list of a second", second: member("2", [ofWeb]), listed: { askedAt: 9_000 }, expected: uncovered },
	{ name: "an older list", second: member("2", [ofWeb]), listed: { askedAt: 8_999 }, expected: listAgain },
	{
		name: "an older list that would cover it",
		second: member("2", [ofDb]),
		listed: { askedAt: 8_999 },
		expected: listAgain,
	},
	{ name: "a list from the future", second: member("2", [ofWeb]), listed: { askedAt: 10_001 }, expected: listAgain },
	{ name: "a list of other namespaces", second: member("2", [ofWeb]), listed: { namespaces: [] }, expected: listAgain },
	{ name: "a pod read a second ago", second: member("2", [ofWeb]), version: { readAt: 9_000 }, expected: uncovered },
	{ name: "a pod read before", second: member("2", [ofWeb]), version: { readAt: 8_999 }, expected: readAgain },
	{
		name: "labels read before that would be covered",
		second: member("2", [ofDb]),
		version: { readAt: 8_999 },
		expected: readAgain,
	},
	{
		name: "a pod that took long to read",
		second: member("2", [ofWeb]),
		version: { readAt: 8_500 },
		triedAt: 8_500,
		expected: uncovered,
	},
	{
		name: "a pod read before whoever asks began",
		second: member("2", [ofWeb]),
		version: { readAt: 8_500 },
		triedAt: 8_501,
		expected: readAgain,
	},
	{
		name: "such a pod and an older list",
		second: member("2", [ofWeb]),
		version: { readAt: 8_500 },
		listed: { askedAt: 8_500 },
		triedAt: 8_500,
		expected: listAgain,
	},
	{ name: "no budgets in the namespace", second: member("2", []), expected: byUid },
	{
		name: "no budgets in the namespace and a pod read long ago",
		second: member("2", []),
		version: { readAt: 0 },
		expected: byUid,
	},
	{ name: "an old list without budgets", second: member("2", []), listed: { askedAt: 0 }, expected: listAgain },
	{
		name: "budgets of another namespace",
		second: member("2", [{ ...ofDb, name: { namespace: "bank", name: "db" } }]),
		expected: byUid,
	},
	{ name: "a member that declares another fleet", second: member("2", [ofWeb], "other"), expected: fleetsDiffer },
	{ name: "such a member without budgets", second: member("2", [], "other"), expected: fleetsDiffer },
	{ name: "a member without a list", second: undefined, expected: listAgain },
	{ name: "a list of somebody who is no member", second: member("2", [ofWeb]), memberIds: ["1"], expected: listAgain },
];

function covered(name: string): CoverageJudgement {
	return { kind: "covered", budgets: [expect.objectContaining({ name: { namespace: "shop", name } })] };
}

describe("judgeCoverage()", () => {
	for (const { name, second, listed, version, memberIds = ["2", "1"], triedAt = 10_000, expected } of rows) {
		test(`${name}: ${expected.kind}`, () => {
			const members = [member("1", []), ...(second ? [second] : [])];
			const judged = judgeCoverage(
				{ namespace: "shop", version: { resourceVersion: "7", labels: { app: "db" }, readAt: 9_500, ...version } },
				{ askedAt: 9_500, namespaces: ["shop"], members, ...listed },
				{ memberIds, now: 10_000, triedAt },
			);
			expect(judged).toEqual(expected);
		});
	}

	test("members that agree on another fleet than they are: fleetsDiffer", () => {
		const members = [member("1", [], "other"), member("2", [], "other")];
		const version = { resourceVersion: "7", labels: {}, readAt: 0 };
		const listed = { askedAt: 0, namespaces: ["shop"], members };
		expect(
			judgeCoverage({ namespace: "shop", version }, listed, { memberIds: ["1", "2"], now: 0, triedAt: 0 }),
		).toEqual({
			kind: "fleetsDiffer",
			message: expect.stringContaining("cluster c1, c2 declares another fleet"),
		});
	});
});

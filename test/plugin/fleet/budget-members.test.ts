import { describe, expect, test } from "vitest";
import { formatSuspension } from "../../../disruption/budget/suspension.ts";
import { boundText, budgetOfMembers, differences } from "../../../plugin/fleet/budget-members.ts";

const name = { namespace: "shop", name: "db" };
const suspension = { by: "alice@laptop", since: "2026-01-01T00:00:00.000Z" };

/** Returns members by name, with the spec of their budget. Undefined means that the member does not have the budget. */
function fleet(specs: Readonly<Record<string, object | undefined>>) {
	const lists = Object.entries(specs).map(([clusterName, spec]) => ({
		clusterName,
		budgets: spec ? [{ name, spec: { selector: {}, ...spec }, suspension: formatSuspension(suspension) }] : [],
	}));
	return { members: budgetOfMembers(name, lists), clusters: Object.keys(specs) };
}

interface Row {
	readonly name: string;
	readonly specs: Readonly<Record<string, object | undefined>>;
	readonly bound: string;
	readonly differs: string | undefined;
}

const one = { maxUnavailable: 1 };
const rows: readonly Row[] = [
	{ name: "the same in all", specs: { c1: one, c2: one }, bound: "maxUnavailable 1", differs: undefined },
	{
		name: "another bound in one",
		specs: { c1: one, c2: one, c3: { maxUnavailable: 2 } },
		bound: "c3: maxUnavailable 2, elsewhere maxUnavailable 1",
		differs: "c3: maxUnavailable 2, elsewhere maxUnavailable 1: the strictest holds",
	},
	{
		name: "three bounds",
		specs: { c1: one, c2: { minAvailable: "50%" }, c3: { maxUnavailable: 2 } },
		bound: "c1: maxUnavailable 1, c2: minAvailable 50%, elsewhere maxUnavailable 2",
		differs: "c1: maxUnavailable 1, c2: minAvailable 50%, elsewhere maxUnavailable 2: the strictest holds",
	},
	{
		name: "one that nobody can read",
		specs: { c1: one, c2: {}, c3: one },
		bound: "c2: ?, elsewhere maxUnavailable 1",
		differs: "c2: ?, elsewhere maxUnavailable 1: the strictest holds",
	},
	{
		name: "suspended in some",
		specs: { c1: { ...one, suspend: true }, c2: one, c3: one },
		bound: "maxUnavailable 1",
		differs: "suspended in c1 but not in c2, c3, so it still applies in the whole fleet",
	},
	{
		name: "missing in one",
		specs: { c1: one, c2: undefined },
		bound: "maxUnavailable 1",
		differs: "missing in c2; it still applies to pods there",
	},
];

describe("differences()", () => {
	for (const { name: what, specs, bound, differs } of rows) {
		test(what, () => {
			const { members, clusters } = fleet(specs);
			expect({ bound: boundText(members), differs: differences(members, clusters) }).toEqual({ bound, differs });
		});
	}
});

describe("budgetOfMembers()", () => {
	test("says who suspended it only while it is suspended: an annotation that was left behind speaks of nothing", () => {
		const { members } = fleet({ c1: { ...one, suspend: true }, c2: one });
		expect(members).toMatchObject([
			{ cluster: "c1", suspended: true, suspension },
			{ cluster: "c2", suspended: false, suspension: undefined },
		]);
	});
});

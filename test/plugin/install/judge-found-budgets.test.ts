import { describe, expect, test } from "vitest";
import type { FoundBudgets } from "../../../plugin/install/found-budgets.ts";
import { foundBudgetLines } from "../../../plugin/install/judge-found-budgets.ts";

const selector = { matchLabels: { app: "db" } };

function cluster(
	clusterName: string,
	specs: Readonly<Record<string, object>>,
	pods: number | undefined = 2,
): FoundBudgets {
	return {
		clusterName,
		budgets: Object.entries(specs).map(([name, spec]) => ({ name: { namespace: "shop", name }, spec })),
		pods:
			pods === undefined
				? undefined
				: Array.from({ length: pods }, () => ({ namespace: "shop", labels: { app: "db" } })),
	};
}

const one = { maxUnavailable: 1, selector };

describe("foundBudgetLines()", () => {
	const rows = [
		{ name: "says nothing where there is none", found: [cluster("eu", {}), cluster("us", {})], lines: [] },
		{
			name: "has one line for a budget that is the same everywhere",
			found: [cluster("eu", { db: one }), cluster("us", { db: one })],
			lines: ["= shop/db: maxUnavailable 1, in eu, us"],
		},
		{
			name: "says that a budget of one cluster holds in all, and that the strictest of several holds",
			found: [cluster("eu", { db: one }), cluster("us", { db: { ...one, maxUnavailable: 2 } }), cluster("ap", {})],
			lines: [
				"! shop/db: eu: maxUnavailable 1, elsewhere maxUnavailable 2, in eu, us",
				"eu: maxUnavailable 1, elsewhere maxUnavailable 2: the strictest holds; missing in ap; it still applies to pods there",
			],
		},
		{
			name: "says that a suspension in one cluster suspends nothing",
			found: [cluster("eu", { db: { ...one, suspend: true } }), cluster("us", { db: one })],
			lines: [
				"! shop/db: maxUnavailable 1, in eu, us",
				"suspended in eu but not in us, so it still applies in the whole fleet",
			],
		},
		{
			name: "says that a budget which wants all pods lets none go, over the pods of all clusters",
			found: [
				cluster("eu", { db: { minAvailable: 4, selector } }),
				cluster("us", { db: { minAvailable: 4, selector } }),
			],
			lines: [
				"! shop/db: minAvailable 4, in eu, us",
				"budget shop/db with minAvailable 4 needs 4 healthy of 4 expected pods: that leaves none to disrupt",
			],
		},
		{
			name: "says of one that is suspended everywhere nothing more, whatever it wants",
			found: [cluster("eu", { db: { minAvailable: "100%", selector, suspend: true } })],
			lines: ["= shop/db: minAvailable 100%, in eu"],
		},
		{
			name: "says that a budget selects nothing",
			found: [cluster("eu", { db: one }, 0), cluster("us", { db: one }, 0)],
			lines: ["! shop/db: maxUnavailable 1, in eu, us", "it selects no pod in any of these clusters: it keeps nothing"],
		},
		{
			name: "says nothing of pods that may not be listed",
			found: [cluster("eu", { db: { maxUnavailable: 0, selector } }, 2), { ...cluster("us", {}), pods: undefined }],
			lines: ["! shop/db: maxUnavailable 0, in eu", "missing in us; it still applies to pods there"],
		},
		{
			name: "says that agents ask no probe, unless it is switched off",
			found: [
				cluster("eu", {
					db: { ...one, probe: { endpoint: "p:1" } },
					off: { ...one, selector: {}, probe: { enabled: false } },
				}),
			],
			lines: [
				"! shop/db: maxUnavailable 1, in eu",
				"it has a probe, which no agent asks: it lets no pod go until that is taken out",
				"= shop/off: maxUnavailable 1, in eu",
			],
		},
		{
			name: "says that what x-pdb takes for one budget is two of ours",
			found: [cluster("eu", { "db-eu": one }), cluster("us", { "db-us": one })],
			lines: [
				"! shop/db-eu: maxUnavailable 1, in eu",
				"missing in us; it still applies to pods there",
				"db-us selects the same pods: two names are two budgets, and both have to agree",
				"! shop/db-us: maxUnavailable 1, in us",
				"missing in eu; it still applies to pods there",
				"db-eu selects the same pods: two names are two budgets, and both have to agree",
			],
		},
		{
			name: "says that selectors which differ let nothing go",
			found: [cluster("eu", { db: one }), cluster("us", { db: { ...one, selector: {} } })],
			lines: [
				"! shop/db: maxUnavailable 1, in eu, us",
				"its selectors differ between clusters: until they are one it lets no pod go",
			],
		},
		{
			name: "says of a budget without a bound what has to be mended",
			found: [cluster("eu", { db: { selector } })],
			lines: [
				"! shop/db: ?, in eu",
				"budget shop/db in cluster eu: cannot enforce budget: neither spec.minAvailable nor spec.maxUnavailable is set: it lets no pod go until that is mended",
			],
		},
	];
	for (const { name, found, lines } of rows) {
		test(name, () => {
			expect(
				foundBudgetLines(found)
					.slice(1)
					.map((line) => line.trim()),
			).toEqual(lines);
		});
	}

	test("shows those with something wrong first, and no more than a person reads", () => {
		const many = Object.fromEntries(
			Array.from({ length: 25 }, (_, index) => [
				`b${String(index).padStart(2, "0")}`,
				{ maxUnavailable: 1, selector: { matchLabels: { app: "db", index: `${index}` } } },
			]),
		);
		const lines = foundBudgetLines([{ ...cluster("eu", { ...many, z: { selector } }), pods: undefined }]);
		expect(lines[0]).toBe(
			"26 budgets exist already. Each applies to the pods of the whole fleet, for every eviction through xpdb:",
		);
		expect(lines[1]).toBe("  ! shop/z: ?, in eu");
		expect(lines.at(-1)).toBe("  and 6 more");
	});
});

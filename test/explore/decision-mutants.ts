// Mutants of the decision: what it counts, and what a budget allows.
import type { Mutant } from "./mutant.ts";

const allowance = "disruption/budget/allowance.ts";
const decide = "disruption/budget/decide.ts";
const round = "disruption/round/round.ts";

export const decisionMutants: readonly Mutant[] = [
	{
		name: "fleets-may-differ",
		without: "the hash of the fleet",
		scenarios: ["fleets-differ"],
		edits: [
			{
				file: decide,
				symbol: "refuseFleet",
				find: 'if ($others.length > 0) { return refused("FleetsDiffer", $message, true); }',
				replace: "",
			},
		],
	},
	{
		name: "selectors-may-differ",
		without: "refusing selectors that differ between members",
		scenarios: ["selectors-differ"],
		edits: [
			{
				file: allowance,
				symbol: "allowanceOf",
				find: "formatSelector($spec.selector) !== $selector",
				replace: "false",
			},
			{
				file: allowance,
				symbol: "allowanceOf",
				find: "$selector !== formatSelector($budget.selector)",
				replace: "false",
			},
		],
	},
	{
		name: "bound-of-one-member",
		without: "the strictest of all members' bounds",
		scenarios: ["bounds-differ"],
		edits: [
			{
				file: allowance,
				symbol: "allowanceOf",
				find: "$specs.map(({ spec: $spec }) => $spec.bound)",
				replace: "$specs.slice(0, 1).map(({ spec: $spec }) => $spec.bound)",
			},
		],
	},
	{
		name: "suspended-in-one-is-suspended",
		without: "asking that a budget be suspended in all members",
		scenarios: ["suspended-in-one"],
		edits: [
			{
				file: allowance,
				symbol: "allowanceOf",
				find: "$specs.every(({ spec: $spec }) => $spec.suspended)",
				replace: "$specs.some(({ spec: $spec }) => $spec.suspended)",
			},
		],
	},
	{
		name: "percentage-rounded-down",
		without: "rounding percentages up",
		scenarios: ["percent"],
		edits: [
			{
				file: "disruption/budget/budget.ts",
				symbol: "desiredHealthy",
				find: "Math.ceil($pods)",
				replace: "Math.floor($pods)",
			},
		],
	},
	{
		name: "missing-in-member-is-free",
		without: "the budgets of other members",
		scenarios: ["second-budget-elsewhere", "missing-in-member"],
		edits: [
			{
				file: decide,
				symbol: "judge",
				find: "const $members = $budgets.flatMap(({ counts: $counts }) => $counts.flatMap(($count) => $count.budgets));",
				replace: `const $members = $budgets.flatMap(({ counts }) =>
		counts.filter((each) => each.clusterId === arguments[0].clusterId).flatMap((each) => each.budgets),
	);`,
			},
			{
				file: decide,
				symbol: "judge",
				find: "if ($covering.length === 0) { $$all; }",
				replace: 'if ($covering.length === 0) return { kind: "free", why: "Finished" };',
			},
		],
	},
	{
		name: "one-of-two-budgets-is-enough",
		without: "asking that all of a pod's budgets have room",
		scenarios: ["two-budgets"],
		edits: [
			{
				file: decide,
				symbol: "judge",
				find: "$bounds.find(($allowance) => !allowsDisruption($allowance, $healthy))",
				replace: "$bounds.every(($allowance) => !allowsDisruption($allowance, $healthy)) ? $bounds[0] : undefined",
			},
		],
	},
	{
		name: "reserved-under-one-budget",
		without: "the reservation in the Leases of all its budgets",
		scenarios: ["one-commit-first", "two-budgets"],
		edits: [
			{
				file: round,
				symbol: "grantsFor",
				find: "const $covered = $judgement.budgets.some($$all);",
				replace: "const $covered = $judgement.budgets[0]?.name === arguments[0].budget.name.name;",
			},
		],
	},
	{
		name: "grants-of-one-round-not-summed",
		without: "what a decision's earlier grants have used up",
		scenarios: ["many-at-once", "bounds-differ"],
		edits: [{ file: decide, symbol: "judge", find: "$allowance.counts = withPodsDown($$all);", replace: "" }],
	},
	{
		name: "unready-is-free",
		without: "the reservation of pods that cost nothing now",
		scenarios: ["ready-before-it-goes", "unready"],
		edits: [
			{
				file: decide,
				symbol: "judge",
				find: "if ($healthy) for (const $allowance of $bounds) $less;",
				replace: `if (!$healthy) return { kind: "free", why: "Finished" };
	for (const $allowance of $bounds) $less;`,
			},
		],
	},
	{
		name: "reserved-pod-granted-again",
		without: "refusing a pod that is reserved for somebody else",
		scenarios: ["somebody-elses", "granted-anew", "two-cancellers"],
		edits: [
			{
				file: decide,
				symbol: "judge",
				find: 'if ($reservedBy) { return waiting("PodReserved", $$message); }',
				replace: "",
			},
		],
		harmless:
			"The second grant is judged with the pod counted as unavailable, and has a reservation of its own with a fence of its own: the pod counts until the last of them has ended",
	},
];

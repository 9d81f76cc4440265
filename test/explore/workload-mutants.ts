// Mutants of the search for the workloads that an agent expects, even if none of their pods exists.
import type { Mutant } from "./mutant.ts";

const counts = "agent/leases/acquisition-counts.ts";

export const workloadMutants: readonly Mutant[] = [
	{
		name: "only-pods-that-are-there",
		without: "expecting the workloads whose pod template the budget selects",
		scenarios: ["gone-and-not-back", "gone-under-another-budget"],
		edits: [
			{
				file: "agent/leases/expected-pods.ts",
				symbol: "expectedPods",
				find: 'ownersOfNames($matching.kind === "listed" ? $matching.workloads : [], $owners)',
				replace: "ownersOfNames([], $owners)",
			},
		],
	},
	{
		name: "workloads-of-a-dead-watch",
		without: "listing workloads while their watches are dead",
		scenarios: ["made-behind-a-dead-watch"],
		edits: [
			{
				file: "agent/views/workload-view.ts",
				symbol: "workloadViewOf",
				find: "$stores.every(($store) => $store.live)",
				replace: "true",
			},
		],
	},
	{
		name: "forbidden-workloads-are-none",
		without: "reporting no number of expected pods where the agent has no right to list workloads",
		scenarios: ["made-where-lists-are-forbidden"],
		edits: [
			{
				file: "agent/leases/matching-workloads.ts",
				symbol: "matchingWorkloads",
				find: 'return { kind: "unlisted", expected: { kind: "unknown", reason: $reason, cause: "WorkloadsNotListed" } };',
				replace: 'return { kind: "listed", workloads: [] };',
			},
		],
	},
	{
		name: "workloads-not-compared",
		without: "listing workloads where their watches were not found equal to a list in the last 5 s",
		scenarios: ["made-behind-a-stuck-watch"],
		edits: [
			{
				file: "agent/views/workload-view.ts",
				symbol: "workloadViewOf",
				find: "$comparisons.isRecent($namespace)",
				replace: "true",
			},
		],
	},
	{
		name: "remembered-from-a-grant-only",
		without: "remembering the controllers of other kinds that a count saw",
		scenarios: ["gone-custom-resource"],
		edits: [
			{
				file: counts,
				symbol: "AcquisitionCounts.#countNow",
				find: "withControllers(withoutControllers($found, $forgotten), $new)",
				replace: "withoutControllers($found, $forgotten)",
			},
		],
	},
	{
		name: "remembered-without-a-write",
		without: "writing whom a count saw before anybody relies on it",
		scenarios: ["gone-custom-resource"],
		edits: [
			{
				file: counts,
				symbol: "mustBeWritten",
				find: "$newControllers.length > 0",
				replace: "false",
			},
		],
	},
	{
		name: "found-out-on-a-lost-acquisition",
		without: "asking whether the acquisition stands before what its count found out is written",
		scenarios: ["gone-for-a-while"],
		edits: [
			{
				file: counts,
				symbol: "AcquisitionCounts.#countNow",
				find: 'if (!stands($$all)) return { result: "lost" };',
				replace: "",
			},
		],
	},
];

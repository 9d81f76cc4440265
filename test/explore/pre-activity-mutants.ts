// Mutants of the rules for pods with pre-activities.
import type { Mutant } from "./mutant.ts";

export const preActivityMutants: readonly Mutant[] = [
	{
		name: "pre-activity-is-granted",
		without: "letting a pod wait for its pre-activities",
		scenarios: ["pre-activity-there"],
		edits: [
			{
				file: "disruption/budget/decide.ts",
				symbol: "judge",
				find: "new Set($present.flatMap(($each) => $each.preActivities))",
				replace: "new Set<string>()",
			},
		],
	},
	{
		name: "not-started-in-a-pre-activity",
		without: "letting a pod that has not started wait for its pre-activities",
		scenarios: ["pre-activity-not-started"],
		edits: [
			{
				file: "plugin/kubernetes/pod-status.ts",
				symbol: "hasNotStarted",
				find: "preActivitiesOf($annotations).length === 0",
				replace: "true",
			},
		],
	},
	{
		name: "evicted-in-a-pre-activity",
		without: "looking for pre-activities in the version that the eviction names after a 409",
		scenarios: ["pre-activity-since-the-grant"],
		edits: [
			{
				file: "disruption/round/bind-to-version.ts",
				symbol: "bindToVersion",
				find: "const [$preActivity] = $found.preActivities;",
				replace: "const [$preActivity] = [] as readonly string[];",
			},
		],
	},
	{
		name: "pre-activity-not-told",
		without: "telling a pod whose pre-activity holds it back that someone wants to evict it",
		scenarios: ["pre-activity-there"],
		edits: [
			{
				file: "agent/leases/acquisition-counts.ts",
				symbol: "AcquisitionCounts.#markPreActivities",
				find: "$state.preActivities.length > 0",
				replace: "false",
			},
		],
	},
];

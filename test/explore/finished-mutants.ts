// Mutants of the rules for pods that are finished, terminating or not started yet.
import type { Mutant } from "./mutant.ts";

const count = "agent/leases/count.ts";

export const finishedMutants: readonly Mutant[] = [
	{
		name: "finished-is-healthy",
		without: "leaving finished pods out of the healthy ones",
		scenarios: ["failed-and-ready"],
		edits: [{ file: "disruption/budget/healthy.ts", symbol: "isHealthy", find: "!$pod.finished", replace: "true" }],
	},
	{
		name: "finished-needs-a-grant",
		without: "letting a finished pod go whether its budgets have room or not",
		scenarios: ["finished-without-room"],
		edits: [
			{
				file: count,
				symbol: "candidateState",
				find: 'if ($pod.finished) return { kind: "free", pod: $reference, why: "Finished" };',
				replace: "",
			},
		],
	},
	{
		name: "terminating-needs-a-grant",
		without: "letting a terminating pod go whether its budgets have room or not",
		scenarios: ["terminating-without-room"],
		edits: [
			{
				file: count,
				symbol: "candidateState",
				find: 'if ($pod.terminating) return { kind: "free", pod: $reference, why: "Terminating" };',
				replace: "",
			},
		],
	},
	{
		name: "not-started-needs-a-grant",
		without: "letting a pod go that has not started, whether its budgets have room or not",
		scenarios: ["not-started-without-room"],
		edits: [
			{
				file: "plugin/evictions/evict-pod.ts",
				symbol: "tryMember",
				find: "if ($job.seen.hasNotStarted) return evictFree($job, $deps);",
				replace: "",
			},
		],
	},
	{
		name: "started-meanwhile",
		without: "looking whether a pod that had not started has started meanwhile",
		scenarios: ["started-since-it-was-listed"],
		edits: [
			{
				file: "plugin/evictions/free-eviction.ts",
				symbol: "evictFree",
				find: "hasNotStarted($found.pod)",
				replace: "true",
			},
		],
	},
	{
		name: "free-by-its-uid-alone",
		without: "naming the version in which a finished or terminating pod, or one that has not started, was read",
		scenarios: ["finished-before-a-restore", "terminating-before-a-restore", "started-since-it-was-listed"],
		edits: [
			{
				file: "plugin/evictions/free-eviction.ts",
				symbol: "evictFree",
				find: "{ resourceVersion: $job.seen.resourceVersion }",
				replace: "{}",
			},
		],
	},
];

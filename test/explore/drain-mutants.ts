// Mutants that make a run or a drain break what its command promises (see command-judge.ts).
import type { Mutant } from "./mutant.ts";

const drain = "plugin/drain/drain.ts";
const evictions = "plugin/evictions/evictions.ts";
const places = { file: "disruption/round/places.ts", symbol: "Places.ask" } as const;
const under = { file: "plugin/evictions/evict-pod.ts", symbol: "tryUnder" } as const;

export const drainMutants: readonly Mutant[] = [
	{
		name: "drains-without-cordon",
		without: "leaving a node alone that could not be cordoned",
		scenarios: ["drained-nodes"],
		edits: [{ file: drain, symbol: "drain", find: "hasSucceeded($cordon)", replace: "true" }],
	},
	{
		name: "drained-before-gone",
		without: "waiting until the pods of a node are gone",
		scenarios: ["drained-nodes"],
		edits: [
			{
				file: evictions,
				symbol: "Evictions.#finish",
				find: "$options.dryRun || !this.#deps.waitsUntilGone",
				replace: "true",
			},
		],
	},
	{
		name: "drains-out-of-order",
		without: "putting the pods of a node in order",
		scenarios: ["drained-by-deletes"],
		edits: [
			{
				file: drain,
				symbol: "drainOrder",
				find: "orderPods($pods, $order)",
				replace: 'orderPods($pods, { kind: "none" })',
			},
		],
	},
	{
		name: "dry-run-cordons",
		without: "the dryRun of a cordon in a dry run",
		scenarios: ["drained-in-dry-run"],
		edits: [
			{
				file: "plugin/nodes/cordon.ts",
				symbol: "setUnschedulable",
				find: '$dryRun === "server" ? "&dryRun=All" : ""',
				replace: '""',
			},
		],
	},
	{
		name: "dry-run-takes-leases",
		without: "looking at the counts in the place of a round in a dry run",
		scenarios: ["drained-in-dry-run"],
		edits: [{ ...under, find: "if ($dryRun) return $dryRun.judgeDryRun($job, $budgets);", replace: "" }],
	},
	{
		name: "pause-lets-rounds-begin",
		without: "asking for no round in a pause",
		scenarios: ["drained-in-time"],
		edits: [{ ...places, find: "if (this.#isPaused) return 0;", replace: "" }],
	},
	{
		name: "pause-lets-grants-go",
		without: "giving a grant back that was made in a pause, and looking once more right before it is used",
		scenarios: ["drained-in-time"],
		edits: [
			{ ...under, find: "!mayBeSent($job, $places, $stop)", replace: "$stop.aborted || $job.timeout.signal.aborted" },
			{
				file: "plugin/evictions/granted-eviction.ts",
				symbol: "evictGranted",
				find: "mayBeSent($job, $places, $stop)",
				replace: "!$stop.aborted && !$job.timeout.signal.aborted",
			},
		],
	},
	{
		name: "waits-past-its-time",
		without: "giving up a pod that waits for its grant when its time is over",
		scenarios: ["drained-in-time"],
		edits: [
			{
				file: "plugin/evictions/evict-pod.ts",
				symbol: "evictPod",
				find: "AbortSignal.any([$stop, $job.timeout.signal])",
				replace: "$stop",
			},
		],
	},
];

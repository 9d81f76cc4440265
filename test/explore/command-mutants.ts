// Mutants of dry runs, deletes, pauses, stops and server errors: a command must send what it promises, and nothing else.
import type { Mutant } from "./mutant.ts";

const request = { file: "plugin/evictions/send-eviction.ts", symbol: "requestEviction" } as const;

export const commandMutants: readonly Mutant[] = [
	{
		name: "dry-run-sends",
		without: "the dryRun of a request in a dry run",
		scenarios: ["dry-run"],
		edits: [{ ...request, find: '{ dryRun: ["All"] }', replace: "" }],
	},
	{
		name: "deletes-without-a-grant",
		without: "asking for a round before a pod is deleted",
		scenarios: ["deletes"],
		edits: [
			{
				file: "plugin/evictions/evict-pod.ts",
				symbol: "tryUnder",
				find: "const $answer = await $queue.ask($$request);",
				replace:
					"if (arguments[3].options.deletes) return sendFreely(arguments[1], {}, arguments[3]); const $answer = await $queue.ask($$request);",
			},
		],
	},
	{
		name: "resumed-for-nobody",
		without: "letting those go on that wait for the end of a pause",
		scenarios: ["paused"],
		edits: [
			{
				file: "plugin/evictions/evictions.ts",
				symbol: "Evictions.resume",
				find: "this.#places.resume();",
				replace: "",
			},
		],
	},
	{
		name: "sent-in-a-pause-after-a-login",
		without: "looking once more, right before a pod without a grant is sent, whether the run is paused",
		scenarios: ["paused-while-it-logs-in"],
		edits: [
			{
				file: "plugin/evictions/free-eviction.ts",
				symbol: "sendFreely",
				find: "mayBeSent($job, $places, $stop)",
				replace: "!$stop.aborted && !$job.timeout.signal.aborted",
			},
		],
	},
	{
		name: "grant-used-in-a-pause",
		without: "looking once more, right before a granted pod is sent, whether the run is paused",
		scenarios: ["paused-with-a-grant"],
		edits: [
			{
				file: "plugin/evictions/granted-eviction.ts",
				symbol: "evictGranted",
				find: "mayBeSent($job, $places, $stop)",
				replace: "!$stop.aborted && !$job.timeout.signal.aborted",
			},
		],
	},
	{
		name: "grant-used-after-a-stop",
		without: "looking once more, right before a granted pod is sent, whether the run was stopped",
		scenarios: ["stopped-with-a-grant"],
		edits: [
			{
				file: "plugin/evictions/granted-eviction.ts",
				symbol: "evictGranted",
				find: "mayBeSent($job, $places, $stop)",
				replace: "!$places.isPaused",
			},
		],
	},
	{
		name: "server-error-as-if-not-sent",
		without: "the fence after an API server has answered 500 or 504",
		scenarios: ["timed-out-at-the-server"],
		edits: [
			{
				file: "disruption/round/eviction.ts",
				symbol: "cancelTicket",
				find: "$cluster.cancel($budget, $ids, $options)",
				replace: "$cluster.cancel($budget, $ids, { sent: false })",
			},
		],
	},
];

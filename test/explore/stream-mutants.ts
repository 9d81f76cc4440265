// Mutants of the shipped watches and lists: deletions during a list, when everything is listed anew, and the order of versions.
import type { Mutant } from "./mutant.ts";

const watch = "agent/kubernetes/watch.ts";

export const streamMutants: readonly Mutant[] = [
	{
		name: "deleted-while-listed-kept",
		without: "taking out of a streamed list what is deleted before its end",
		scenarios: ["deleted-while-listed"],
		edits: [
			{
				file: watch,
				symbol: "ObjectWatch.#take",
				find: "$list.sink.remove($uid)",
				replace: "undefined",
			},
		],
	},
	{
		name: "broken-watch-resumes",
		without: "listing anew after a watch broke",
		scenarios: ["unreadable-event"],
		edits: [
			{
				file: watch,
				symbol: "ObjectWatch.run",
				find: "if (!$attempt.signal.aborted) { this.#place.forget(); $$rest }",
				replace: "if (!$attempt.signal.aborted) { $$rest }",
			},
		],
	},
	{
		name: "late-watch-resumes",
		without: "listing anew if a watch is open again only when its view was dead",
		scenarios: ["reopened-late"],
		edits: [
			{
				file: watch,
				symbol: "ObjectWatch.#showsLife",
				find: "if ($at - this.#aliveAt >= signOfLifeMs) { $$anew }",
				replace: "",
			},
		],
	},
	{
		name: "older-list-unnoticed",
		without: "noticing that a streamed list is older than what was seen before it",
		scenarios: ["restored-to-older-versions"],
		harmless:
			"a list replaces all pods of the view, and no decision rests on the view of Leases alone. It matters to the views of budgets and workloads, which these schedules do not feed over streams (test/agent/kubernetes/watch.test.ts)",
		edits: [
			{
				file: watch,
				symbol: "ObjectWatch.#finish",
				find: "if ($connection.versions.answered($list.mark, $version)) return;",
				replace: "",
			},
		],
	},
	{
		name: "older-event-unnoticed",
		without: "noticing that an event is older than the last one of its watch",
		scenarios: ["restored-under-a-watch"],
		edits: [
			{
				file: watch,
				symbol: "ObjectWatch.#take",
				find: "compareResourceVersions($version, this.#version) < 0",
				replace: "false",
			},
		],
	},
	{
		name: "list-in-pages-over-two-connections",
		without: "listing anew where the connection changed between two pages",
		scenarios: ["listed-over-two-connections"],
		harmless:
			"what its first page shows was so while the count ran, and a watch that broke with the connection lists everything again before its view is alive",
		edits: [
			{
				file: "agent/kubernetes/paged-list.ts",
				symbol: "listPaged",
				find: "$connection.session !== $session",
				replace: "false",
			},
		],
	},
];

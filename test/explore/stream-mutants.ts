// What the shipped watches owe to the order of their lines, and to the connection that carries them.
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
				find: "$list.objects.delete($uid)",
				replace: "undefined",
			},
		],
	},
	{
		name: "unreadable-event-passed-over",
		without: "going on from before an event that could not be read",
		scenarios: ["unreadable-event"],
		edits: [
			{
				file: watch,
				symbol: "ObjectWatch.#take",
				find: 'if ($event.type === "BOOKMARK") $sink.bookmark($version); else { $$told } this.#version = $version; this.#place.reached($version, $session);',
				replace:
					'this.#version = $version; this.#place.reached($version, $session); if ($event.type === "BOOKMARK") $sink.bookmark($version); else { $$told }',
			},
		],
	},
];

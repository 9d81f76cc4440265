// Mutants of counts that need a list of selected pods, or a touch of the agent's own pod.
import type { Mutant } from "./mutant.ts";

const count = "agent/leases/count.ts";
const toCount = "agent/leases/pods-to-count.ts";
const marker = "agent/views/view-marker.ts";

export const listingMutants: readonly Mutant[] = [
	{
		name: "new-lease-counted-from-the-view",
		without: "a touch of the agent's own pod, or a list, for a Lease without `observed`",
		scenarios: ["lease-forgotten"],
		edits: [
			{
				file: toCount,
				symbol: "podsToCount",
				find: "$isNew ? await $choice.marker?.mark() : $observed",
				replace: "$observed",
			},
		],
	},
	{
		name: "touch-joined",
		without: "a touch of the agent's own pod that is sent after the Leases were read",
		scenarios: ["counted-during-an-earlier-touch"],
		edits: [
			{
				file: marker,
				symbol: "ViewMarker.mark",
				find: "this.#next ??= this.#startAfter(this.#marking);",
				replace: "this.#next ??= this.#mark().finally(() => { this.#next = undefined; });",
			},
		],
	},
	{
		name: "version-before-the-touch",
		without: "the version that the touch of the agent's own pod made",
		scenarios: ["lease-forgotten"],
		edits: [
			{
				file: marker,
				symbol: "ViewMarker.#mark",
				find: 'if ($touched.kind === "gone" || compareResourceVersions($touched.resourceVersion, $own.resourceVersion) <= 0) return undefined; return $touched.resourceVersion;',
				replace:
					'if ($touched.kind === "gone" || compareResourceVersions($touched.resourceVersion, $own.resourceVersion) <= 0) return undefined; return $own.resourceVersion;',
			},
		],
	},
	{
		name: "own-pod-touched-with-an-old-value",
		without: "a value that was never used before in each touch of the agent's own pod",
		scenarios: ["lease-forgotten"],
		edits: [
			{
				file: marker,
				symbol: "ViewMarker.#mark",
				find: "$api.touchPod($own, $newId())",
				replace: '$api.touchPod($own, "again")',
			},
			{
				file: marker,
				symbol: "ViewMarker.#mark",
				find: "compareResourceVersions($touched.resourceVersion, $own.resourceVersion) <= 0",
				replace: "false",
			},
		],
	},
	{
		name: "listed-before-the-leases",
		without: "reading the Leases before the selected pods are listed",
		scenarios: ["listed-as-it-ends"],
		edits: [
			{
				file: count,
				symbol: "countUnder",
				find: "const $lease = await $reading; $beginScales($$controllers);",
				replace:
					"const early = arguments[2].api.listSelectedPods(arguments[1].budget.namespace, arguments[1].selector); early.catch(() => undefined); const $lease = await $reading; $beginScales($$controllers);",
			},
			{
				file: count,
				symbol: "countUnder",
				find: "podsToCount($question, $all, { ...$options, api: $api })",
				replace:
					"podsToCount($question, $all, { ...$options, marker: undefined, api: { ...$api, listSelectedPods: () => early } })",
			},
		],
	},
	{
		name: "listed-into-the-view",
		without: "keeping the version of a list of selected pods out of the view",
		scenarios: ["lease-forgotten", "one-view-lags", "lag"],
		edits: [
			{
				file: toCount,
				symbol: "listPods",
				find: "const { pods: $pods, resourceVersion: $version } = await $api.listSelectedPods($$all);",
				replace:
					"const { pods: $pods, resourceVersion: $version } = await $api.listSelectedPods($$all); arguments[1].pods.bookmark($version);",
			},
		],
	},
	{
		name: "relabelled-by-a-dead-watch",
		without: "expecting remembered controllers where the other pods of the namespace are not known",
		scenarios: ["relabelled-behind-a-dead-watch"],
		edits: [
			{
				file: toCount,
				symbol: "listPods",
				find: 'return { from: "list", $$rest };',
				replace: 'return { from: "list", $$rest, all: () => arguments[1].pods.pods(arguments[0].budget.namespace) };',
			},
		],
	},
];

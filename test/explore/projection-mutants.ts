// Mutants of the projection of pods that an agent keeps, which must agree with the API server.
import type { Mutant } from "./mutant.ts";

export const projectionMutants: readonly Mutant[] = [
	{
		name: "any-ready-condition",
		without: "that the condition Ready is true",
		scenarios: ["unready"],
		edits: [
			{
				file: "disruption/budget/pod.ts",
				symbol: "podRecord",
				find: '$type === "Ready" && $status === "True"',
				replace: '$type === "Ready"',
			},
		],
	},
	{
		name: "labels-of-the-first-version",
		without: "the labels of a later version of a pod",
		scenarios: ["relabelled"],
		edits: [
			{
				file: "agent/views/pod-columns.ts",
				symbol: "PodColumns.#update",
				find: "this.#labelSets.take($pod.labels)",
				replace: "this.#labelSets.take(this.#labelSets.at(this.#labels[arguments[0]]))",
			},
		],
	},
	{
		name: "unlisted-pods-kept",
		without: "the end of pods that a new list does not have",
		scenarios: ["gone-before-a-list"],
		edits: [
			{
				file: "agent/views/pod-view.ts",
				symbol: "PodStore.beginList",
				find: "for (const $uid of $unlisted) this.#pods.remove($uid);",
				replace: "",
			},
		],
	},
];

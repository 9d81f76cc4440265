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
		name: "labels-of-the-controller",
		without: "reading the labels of a pod whose controller is known",
		scenarios: ["relabelled"],
		edits: [
			{
				file: "agent/cluster-api/pod-projection.ts",
				symbol: "createPodProjection",
				find: "sameLabels($seen.labels, $record.labels)",
				replace: "true",
			},
		],
	},
];

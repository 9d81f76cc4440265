// Situations in a cluster with neither agents nor xpdb's CRD: kubectl's own drain, and one warning.
import { budget, daemonSet, pod, statefulSet, viewer } from "./objects.ts";
import { drain, type Situation } from "./situation.ts";

const withoutAgents = true;

export const withoutAgentsSituations: readonly Situation[] = [
	drain("without agents: everything goes", ["--force", "--ignore-daemonsets", "--delete-emptydir-data"], {
		withoutAgents,
		objects: (place) => [
			daemonSet(place, "daemon"),
			statefulSet(place, "cache", 2, { emptyDir: true }),
			pod(place, "bare"),
		],
	}),
	drain("without agents: a filter refuses", [], {
		withoutAgents,
		objects: (place) => [pod(place, "bare"), statefulSet(place, "web", 1)],
	}),
	drain("without agents: a budget of Kubernetes' own blocks until --timeout", ["--timeout=4s"], {
		withoutAgents,
		objects: (place) => [statefulSet(place, "web", 1), budget(place, "web", { minAvailable: 1 })],
	}),
	drain("without agents: a client's dry run", ["--dry-run=client"], {
		withoutAgents,
		objects: (place) => [statefulSet(place, "web", 1)],
	}),
	...["cordon", "uncordon"].map(
		(verb): Situation => ({
			name: `without agents: ${verb}`,
			withoutAgents,
			nodes: { a: {}, b: {} },
			cordoned: ["b"],
			commands: (place) => [[verb, place.node("a"), place.node("b")]],
		}),
	),
	{
		name: "without agents: a user who may not evict",
		withoutAgents,
		objects: (place) => [statefulSet(place, "web", 1), ...viewer(place, "viewer")],
		cordoned: ["a"],
		commands: (place) => [["drain", place.node("a"), "--as=viewer"]],
	},
];

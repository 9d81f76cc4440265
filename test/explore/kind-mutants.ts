// Mutants of what an agent remembers: the kinds of its API server, the owners of ReplicaSets, the versions that the server has reached, the
// connection of a watch, and the members of the fleet.
import type { Mutant } from "./mutant.ts";

const discovery = "agent/kubernetes/discovery.ts";

export const kindMutants: readonly Mutant[] = [
	{
		name: "any-404-is-gone",
		without: "telling a controller that does not exist from a version that is not served any more",
		scenarios: ["version-dropped", "kinds-change"],
		edits: [
			{
				file: "agent/cluster-api/controller-scale.ts",
				symbol: "ofScale",
				find: "isMissingObject($answer, $controller.name)",
				replace: "$answer.status === 404",
			},
		],
	},
	{
		name: "other-versions-not-asked-for",
		without: "looking for a kind in the other versions of its group",
		scenarios: ["version-dropped", "kinds-change"],
		edits: [
			{
				file: discovery,
				symbol: "createDiscovery",
				find: 'if ($found || $group === "") return $found;',
				replace: "return $found;",
			},
		],
	},
	{
		name: "kinds-remembered-for-ever",
		without: "forgetting a kind that is not what it was said to be",
		scenarios: ["version-dropped", "kinds-change"],
		edits: [
			{
				file: discovery,
				symbol: "createDiscovery",
				find: "$clock.now() - $known.at < rememberedMs",
				replace: "true",
			},
			{
				file: "agent/cluster-api/controller-scale.ts",
				symbol: "ofScale",
				find: "$discovery.forget($controller.apiVersion);",
				replace: "",
			},
		],
	},
	{
		name: "missing-scale-remembered",
		without: "asking again for a scale that was not there",
		scenarios: ["scale-added"],
		edits: [
			{
				file: discovery,
				symbol: "createDiscovery",
				find: "$found?.hasScale === true || ($found !== undefined && fixedGroups.test($version))",
				replace: "$found !== undefined",
			},
		],
	},
	{
		name: "owner-kept-with-more-pods-than-wanted",
		without: "asking anew whose a ReplicaSet is where there are more pods than its Deployment wants",
		scenarios: ["disowned"],
		edits: [
			{
				file: "agent/leases/expected-pods.ts",
				symbol: "expectedPods",
				find: "haveMoreThanWanted($pods, $lately)",
				replace: "false",
			},
		],
	},
	{
		name: "owner-kept-for-ever",
		without: "asking anew whose a ReplicaSet is after 5 s",
		scenarios: ["disowned-before"],
		edits: [
			{
				file: "agent/leases/replica-set-owners.ts",
				symbol: "ReplicaSetOwners.find",
				find: "this.#clock.now() - $known.askedAt >= signOfLifeMs",
				replace: "false",
			},
		],
	},
	{
		name: "older-versions-unnoticed",
		without: "noticing that an answer is older than one that was seen before it was asked for",
		scenarios: ["restored-unseen", "restored-while-draining"],
		edits: [
			{
				file: "agent/kubernetes/seen-versions.ts",
				symbol: "SeenVersions.answered",
				find: "compareResourceVersions($version, $mark.version) < 0",
				replace: "false",
			},
		],
	},
	{
		name: "view-keeps-what-was-before",
		without: "dropping what was seen before the API server went back",
		scenarios: ["restored-unseen", "restored-while-draining"],
		edits: [
			{
				file: "agent/kubernetes/seen-versions.ts",
				symbol: "SeenVersions.wentBack",
				find: "for (const $listener of this.#listeners) $listener($resource);",
				replace: "",
			},
		],
	},
	{
		name: "resumed-over-another-connection",
		without: "listing anew where a watch goes on over another connection to the API server",
		scenarios: ["restored-and-outgrown", "restored-past-the-view"],
		edits: [
			{
				file: "agent/kubernetes/watch-place.ts",
				symbol: "WatchPlace.resumeFrom",
				find: "$session === this.#session",
				replace: "true",
			},
		],
	},
	{
		name: "left-out-member-not-missed",
		without: "refusing while a member is left out that nobody has forgotten",
		scenarios: ["left-out-and-restarted", "left-out"],
		edits: [
			{
				file: "agent/leases/known-members.ts",
				symbol: "KnownMembers.getFleet",
				find: "if ($first) throw $refusal;",
				replace: "",
			},
		],
	},
	{
		name: "members-kept-in-memory-only",
		without: "reading from the Lease whom earlier agents knew",
		scenarios: ["left-out-and-restarted", "left-out"],
		edits: [
			{
				file: "agent/leases/known-members.ts",
				symbol: "KnownMembers.#read",
				find: "parseKnownMembers($object, this.#options.cluster)",
				replace: "[]",
			},
		],
	},
	{
		name: "unknown-greeter-ignored",
		without: "keeping in mind who greets",
		scenarios: ["greeted"],
		edits: [
			{
				file: "agent/peers/greetings.ts",
				symbol: "Greetings.receive",
				find: "if ($id !== $local.id) await $known.learn($members);",
				replace: "",
			},
		],
	},
];

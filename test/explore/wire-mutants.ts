// Mutants of the messages between callers and agents. With them, the two sides mean different things.
import type { Mutant } from "./mutant.ts";

export const wireMutants: readonly Mutant[] = [
	{
		name: "wire-drops-grants",
		without: "the grants in the message of a commit",
		scenarios: ["wired"],
		edits: [
			{
				file: "proto/remote-cluster.ts",
				symbol: "RemoteCluster.commit",
				find: "{ grants: $grants.map(grantMessage) }",
				replace: "{ grants: [] }",
			},
		],
	},
	{
		name: "wire-drops-healthy",
		without: "that a candidate is healthy, and costs a disruption",
		scenarios: ["wired"],
		edits: [
			{
				file: "proto/wire-count.ts",
				symbol: "readPresent",
				find: "{ healthy: required($sent.healthy, $field) }",
				replace: "{ healthy: false }",
			},
		],
	},
	{
		name: "wire-confirms-all",
		without: "the agent's own answer to a confirmation",
		scenarios: ["wired-fence"],
		edits: [
			{
				file: "agent/server/agent-service.ts",
				symbol: "createAgentService",
				find: "await $cluster.confirm($budget, $ids)",
				replace: "true",
			},
		],
	},
];

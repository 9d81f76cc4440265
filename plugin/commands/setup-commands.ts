// The commands that set a fleet up, as the command table has them.
import type { Command } from "../flags/command.ts";
import { installFlags } from "../install/install-flags.ts";

export const setupCommands: readonly Command[] = [
	{
		name: "install",
		words: "",
		describe: "Make a fleet of clusters, or extend one",
		examples: [
			["Show what it would do, then do it", "kubectl xpdb install --contexts=eu,us --image=example.com/agent:0.2.0"],
			[
				"With an address for each: load balancers, inside of AWS in one",
				"kubectl xpdb install --contexts=eu,us --expose=loadbalancer:eks-internal",
			],
			[
				"As files for Argo CD or Flux, a folder for each cluster",
				"kubectl xpdb install --contexts=eu,us --dry-run=client --output-dir=clusters",
			],
		],
		flags: installFlags,
		load: async () => (await import("./install.ts")).runInstall,
	},
	{
		name: "upgrade",
		words: "",
		describe: "Bring the agents to this version, cluster by cluster",
		examples: [["To a new image", "kubectl xpdb upgrade --contexts=eu,us --image=example.com/agent:0.2.0"]],
		flags: installFlags,
		load: async () => (await import("./install.ts")).runUpgrade,
	},
	{
		name: "uninstall",
		words: "",
		describe: "Remove all that install made, and keep the budgets",
		examples: [
			["Show what it would delete", "kubectl xpdb uninstall --contexts=eu,us,ap --dry-run=client"],
			["A whole fleet", "kubectl xpdb uninstall --contexts=eu,us,ap"],
		],
		flags: {
			"delete-budgets": { kind: "boolean", describe: "Delete all budgets too, with the definition of their kind" },
			force: { kind: "boolean", describe: "Also while somebody evicts: what was granted is forgotten" },
			timeout: {
				kind: "duration",
				default: 300_000,
				describe: "How long the objects of a cluster may take to go; 0: for ever",
			},
			"dry-run": {
				kind: "text",
				value: "none|server|client",
				default: "none",
				bare: "unchanged",
				describe: "client: show what would go; server: also ask each API server whether it may",
			},
			yes: { kind: "boolean", short: "y", describe: "Do not ask" },
		},
		load: async () => (await import("./uninstall.ts")).runUninstall,
	},
];

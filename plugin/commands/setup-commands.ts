// Defines the entries of the command table for `install`, `upgrade` and `uninstall`.
import type { Command } from "../flags/command.ts";
import { installFlags } from "../install/install-flags.ts";

export const setupCommands: readonly Command[] = [
	{
		name: "install",
		words: "",
		describe: "Install the agents of a fleet, or add clusters to it",
		examples: [
			["Show what it would do, then do it", "kubectl xpdb install --contexts=eu,us --image=example.com/agent:0.2.0"],
			[
				"With an internal AWS load balancer for each cluster",
				"kubectl xpdb install --contexts=eu,us --expose=loadbalancer:eks-internal",
			],
			[
				"As files for Argo CD or Flux, one folder per cluster",
				"kubectl xpdb install --contexts=eu,us --dry-run=client --output-dir=clusters",
			],
		],
		flags: installFlags,
		load: async () => (await import("./install.ts")).runInstall,
	},
	{
		name: "upgrade",
		words: "",
		describe: "Upgrade agents to the plugin's version, cluster by cluster",
		examples: [["To a new image", "kubectl xpdb upgrade --contexts=eu,us --image=example.com/agent:0.2.0"]],
		flags: installFlags,
		load: async () => (await import("./install.ts")).runUpgrade,
	},
	{
		name: "uninstall",
		words: "",
		describe: "Remove everything that install created, except budgets",
		examples: [
			["Show what it would delete", "kubectl xpdb uninstall --contexts=eu,us,ap --dry-run=client"],
			["A whole fleet", "kubectl xpdb uninstall --contexts=eu,us,ap"],
		],
		flags: {
			"delete-budgets": { kind: "boolean", describe: "Also delete all budgets and their CustomResourceDefinition" },
			force: {
				kind: "boolean",
				describe: "Uninstall even while evictions run (their grants are lost), or if a cluster keeps the fleet's CA",
			},
			timeout: {
				kind: "duration",
				default: 300_000,
				describe: "Time limit for the deletion of a cluster's objects; 0: no limit",
			},
			"dry-run": {
				kind: "text",
				value: "none|server|client",
				default: "none",
				bare: "unchanged",
				describe: "client: show what would be deleted; server: also send each request as a dry run",
			},
			yes: { kind: "boolean", short: "y", describe: "Do not ask for confirmation" },
		},
		load: async () => (await import("./uninstall.ts")).runUninstall,
	},
];

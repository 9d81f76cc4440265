// The commands that set a fleet up, as the command table has them.
import type { Command } from "../flags/command.ts";
import { installFlags } from "../install/install-flags.ts";

export const setupCommands: readonly Command[] = [
	{
		name: "install",
		words: "",
		describe: "Make a fleet of clusters, or extend one",
		examples: [
			["Show what it would do, then do it", "kubectl xpdb install --contexts=eu,us --image=example.com/agent:0.1.0"],
			[
				"As files for Argo CD or Flux, one for each cluster",
				"kubectl xpdb install --contexts=eu,us --dry-run=client --output-dir=.",
			],
		],
		flags: installFlags,
		load: async () => (await import("./install.ts")).runInstall,
	},
	{
		name: "upgrade",
		words: "",
		describe: "Bring the agents to this version, one cluster after the other",
		examples: [["To a new image", "kubectl xpdb upgrade --contexts=eu,us --image=example.com/agent:0.2.0"]],
		flags: installFlags,
		load: async () => (await import("./install.ts")).runUpgrade,
	},
];

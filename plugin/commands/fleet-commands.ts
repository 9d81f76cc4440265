// The commands about the fleet itself, as the command table has them.
import type { Command } from "../flags/command.ts";

export const fleetCommands: readonly Command[] = [
	{
		name: "fleet",
		words: "[list]",
		describe: "Show who is in the fleet, as each member says it",
		examples: [
			[
				"Members, addresses, versions, certificates, and wherein lists differ",
				"kubectl xpdb fleet list --contexts=eu,us,ap",
			],
			["Forget a member that is dead", "kubectl xpdb fleet forget ap --contexts=eu,us"],
		],
		flags: {
			output: {
				kind: "text",
				short: "o",
				default: "",
				value: "json|yaml|name|wide",
				describe: "wide: with the CAs that each member trusts, its context and its id",
			},
			"no-headers": { kind: "boolean", describe: "Do not print the headers" },
		},
		load: async () => (await import("./fleet.ts")).runFleet,
	},
	{
		name: "fleet forget",
		words: "MEMBER",
		describe: "Let the others go on without a member that is gone for good",
		examples: [
			["In all the others", "kubectl xpdb fleet forget ap --contexts=eu,us"],
			["In a script", "kubectl xpdb fleet forget ap --contexts=eu,us --confirm=ap"],
		],
		flags: {
			"dry-run": {
				kind: "text",
				value: "none|server|client",
				default: "none",
				bare: "unchanged",
				describe: "client: only say what would be done; server: send it without effect",
			},
			confirm: {
				kind: "text",
				default: "",
				value: "NAME",
				describe: "The member's name, for want of a terminal to ask on",
			},
			yes: { kind: "boolean", short: "y", describe: "Do not ask for the name" },
		},
		load: async () => (await import("./forget-member.ts")).runForgetMember,
	},
];

// Defines the entries of the command table for `fleet`, `fleet forget` and `install certs`.
import type { Command } from "../flags/command.ts";
import { authorityFlags } from "../install/certificate-flags.ts";

export const fleetCommands: readonly Command[] = [
	{
		name: "fleet",
		words: "[list]",
		describe: "Show the members of the fleet, as each member lists them",
		examples: [
			[
				"Members, addresses, versions, certificates, and differences between lists",
				"kubectl xpdb fleet list --contexts=eu,us,ap",
			],
			["Forget a member that is gone for good", "kubectl xpdb fleet forget ap --contexts=eu,us"],
		],
		flags: {
			output: {
				kind: "text",
				short: "o",
				default: "",
				value: "json|yaml|name|wide",
				describe: "wide: also the CAs that each member trusts, its context and its ID",
			},
			"no-headers": { kind: "boolean", describe: "Do not print the headers" },
		},
		load: async () => (await import("./fleet.ts")).runFleet,
	},
	{
		name: "fleet forget",
		words: "MEMBER",
		describe: "Forget a member that is gone for good, so that evictions can continue",
		examples: [
			["In all other clusters", "kubectl xpdb fleet forget ap --contexts=eu,us"],
			["In a script", "kubectl xpdb fleet forget ap --contexts=eu,us --confirm=ap"],
		],
		flags: {
			"dry-run": {
				kind: "text",
				value: "none|server|client",
				default: "none",
				bare: "unchanged",
				describe: "client: only print what would be done; server: send requests as dry runs",
			},
			confirm: {
				kind: "text",
				default: "",
				value: "NAME",
				describe: "The member's name: confirms without a prompt",
			},
			yes: { kind: "boolean", short: "y", describe: "Do not ask for the name" },
		},
		load: async () => (await import("./forget-member.ts")).runForgetMember,
	},
	{
		name: "install certs",
		words: "",
		describe: "Renew the agents' certificates, or change the fleet's CA",
		examples: [
			["New certificates, one cluster after the other", "kubectl xpdb install certs --rotate --contexts=eu,us,ap"],
			[
				"A new CA for the fleet; run it again to resume",
				"kubectl xpdb install certs --rotate --ca --contexts=eu,us,ap",
			],
			[
				"Move the CA's key to eu, before ap leaves the fleet",
				"kubectl xpdb install certs --keep-in=eu --contexts=eu,us,ap",
			],
		],
		flags: {
			rotate: { kind: "boolean", describe: "Give every cluster's agents a new certificate" },
			ca: {
				kind: "boolean",
				describe: "With --rotate: change to a new CA, which all members trust before any certificate uses it",
			},
			...authorityFlags,
			"keep-in": {
				kind: "text",
				default: "",
				value: "CONTEXT",
				describe:
					"Move the CA's key to the cluster of this context; with --ca, this works even if no cluster has the key",
			},
			timeout: {
				kind: "duration",
				default: 300_000,
				describe: "Time limit for the agents to use a new certificate or CA; 0: no limit",
			},
			"dry-run": {
				kind: "text",
				value: "none|server|client",
				default: "none",
				bare: "unchanged",
				describe: "client: show the steps; server: also send each write as a dry run",
			},
			yes: { kind: "boolean", short: "y", describe: "Do not ask for confirmation" },
		},
		load: async () => (await import("./install-certs.ts")).runInstallCerts,
	},
];

// Defines the flags that install and upgrade share.
import type { FlagTable } from "../flags/flag.ts";
import { agentSettingsFlags } from "./agent-settings/agent-settings-flags.ts";
import { certificateFlags } from "./certificate-flags.ts";
import { exposeFlags } from "./expose/expose-flags.ts";

export const installFlags: FlagTable = {
	image: {
		kind: "text",
		default: "",
		value: "IMAGE",
		describe: "The agents' image, as the clusters pull it; if not given, the current one",
	},
	...agentSettingsFlags,
	address: {
		kind: "list",
		value: "MEMBER=HOST:PORT",
		describe: "Where the other clusters reach the agents of a member; may be repeated",
	},
	...exposeFlags,
	operators: {
		kind: "list",
		value: "GROUP[=ACCOUNT:NAMESPACE,...]",
		describe:
			"The group that may drain, instead of xpdb-operators; or a team, limited to its namespaces; may be repeated",
	},
	"metrics-namespace": {
		kind: "text",
		default: "",
		value: "NAMESPACE",
		describe: "The only namespace whose Prometheus may scrape the agents; if not given, the current one, or monitoring",
	},
	...certificateFlags,
	"force-conflicts": {
		kind: "boolean",
		describe: "Take over fields of xpdb's objects that another field manager owns",
	},
	timeout: {
		kind: "duration",
		default: 300_000,
		describe: "Time limit for a cluster's agents to be ready, or for its address to appear; 0: no limit",
	},
	"dry-run": {
		kind: "text",
		value: "none|server|client",
		default: "none",
		bare: "unchanged",
		describe: "client: show the objects; server: show what would change",
	},
	output: {
		kind: "text",
		short: "o",
		default: "",
		value: "yaml",
		describe: "With --dry-run=client: the objects as YAML",
	},
	"output-dir": {
		kind: "text",
		default: "",
		value: "DIR",
		describe: "With --dry-run=client: write the objects there, one folder per cluster",
	},
	yes: { kind: "boolean", short: "y", describe: "Do not ask for confirmation" },
};

// The flags that install and upgrade share.
import type { FlagTable } from "../flags/flag.ts";
import { certificateFlags } from "./certificate-flags.ts";
import { exposeFlags } from "./expose/expose-flags.ts";

export const installFlags: FlagTable = {
	image: {
		kind: "text",
		default: "",
		value: "IMAGE",
		describe: "The agents' image, as the clusters can pull it; without it the one that is there",
	},
	"image-pull-secret": {
		kind: "text",
		default: "",
		value: "SECRET",
		describe: "The Secret in the agents' namespace with the login of the image's registry",
	},
	address: {
		kind: "list",
		value: "MEMBER=HOST:PORT",
		describe: "Where the agents of other clusters reach those of a member; may be repeated",
	},
	...exposeFlags,
	operators: {
		kind: "list",
		value: "GROUP[=ACCOUNT:NAMESPACE,...]",
		describe:
			"The group that may drain, instead of xpdb-operators; or a team, for its namespaces alone; may be repeated",
	},
	"metrics-namespace": {
		kind: "text",
		default: "",
		value: "NAMESPACE",
		describe:
			"The only namespace whose Prometheus may scrape the agents; if not given, the one that is set, or monitoring",
	},
	...certificateFlags,
	"force-conflicts": { kind: "boolean", describe: "Take over fields of our objects that somebody else keeps" },
	timeout: {
		kind: "duration",
		default: 300_000,
		describe: "How long the agents of a cluster may take to be ready, or its address to come; 0: for ever",
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
		describe: "With --dry-run=client: a folder for each cluster there",
	},
	yes: { kind: "boolean", short: "y", describe: "Do not ask" },
};

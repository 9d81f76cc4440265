// Defines and reads the flags that say how members are reached. plan-exposures.ts assigns their values to members.
import { type CommandInput, listFlag } from "../../flags/command.ts";
import type { FlagTable } from "../../flags/flag.ts";

export const exposeFlags: FlagTable = {
	expose: {
		kind: "list",
		value: "[MEMBER=]KIND",
		describe:
			"Make the agents' port 8444 reachable: loadbalancer, loadbalancer:PRESET, nodeport or none; for one member, or for all; may be repeated",
	},
	"expose-class": {
		kind: "list",
		value: "[MEMBER=]CLASS",
		describe: "The loadBalancerClass of a load balancer; may be repeated",
	},
	"expose-annotation": {
		kind: "list",
		value: "[MEMBER=]KEY=VALUE",
		describe: "An annotation on the load balancer's Service, for the cloud provider; may be repeated",
	},
	"expose-source": {
		kind: "list",
		value: "[MEMBER=]CIDR",
		describe: "A source CIDR that may connect to a load balancer, instead of all; may be repeated",
	},
};

/** The values as typed, with or without MEMBER= in front. */
export interface ExposeChoice {
	readonly kinds: readonly string[];
	readonly classes: readonly string[];
	readonly annotations: readonly string[];
	readonly sources: readonly string[];
}

export function readExposeChoice(input: CommandInput): ExposeChoice {
	return {
		kinds: listFlag(input, "expose"),
		classes: listFlag(input, "expose-class"),
		annotations: listFlag(input, "expose-annotation"),
		sources: listFlag(input, "expose-source"),
	};
}

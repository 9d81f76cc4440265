// All commands of kubectl xpdb.
import { fleetCommands } from "./commands/fleet-commands.ts";
import { setupCommands } from "./commands/setup-commands.ts";
import type { Command } from "./flags/command.ts";
import type { FlagTable } from "./flags/flag.ts";
import { waitUntilFlag } from "./flags/wait-until.ts";
import { watchUiFlag } from "./flags/watch-ui-flag.ts";

const dryRun: FlagTable = {
	"dry-run": {
		kind: "text",
		value: "none|server|client",
		default: "none",
		bare: "unchanged",
		describe: "client: only say what would be done; server: send it without effect",
	},
};
const selector: FlagTable = {
	selector: {
		kind: "text",
		short: "l",
		default: "",
		describe: "Label selector, in every context: a=b, a!=b, 'a in (b, c)', a, !a",
	},
};
const runOutput: FlagTable = {
	output: {
		kind: "text",
		short: "o",
		default: "",
		value: "json",
		describe: "json: one JSON object a line, to the end",
	},
};
const report: FlagTable = {
	report: {
		kind: "text",
		default: "",
		value: "FILE",
		describe: "Write a page with a picture of the run there, in HTML",
	},
};
const readOutput = (value: string, describe: string): FlagTable => ({
	output: { kind: "text", short: "o", default: "", value, describe },
});
const ui: FlagTable = {
	ui: {
		kind: "text",
		default: "",
		value: "auto|full|plain|none",
		describe:
			"auto: the full screen on a terminal with several nodes or contexts, else plain lines; none: results only",
	},
};
const yes: FlagTable = { yes: { kind: "boolean", short: "y", describe: "Do not ask, also with several contexts" } };
const gracePeriod: FlagTable = {
	"grace-period": {
		kind: "number",
		default: -1,
		describe: "Seconds for each pod to terminate; negative: the pod's own",
	},
};

/** Which pods of a node a drain takes. */
const drainFilters: FlagTable = {
	force: {
		kind: "boolean",
		describe: "Also take pods that declare no controller, and those whose DaemonSet is gone",
	},
	"ignore-daemonsets": {
		kind: "boolean",
		describe: "Leave pods of DaemonSets where they are; without it they are an error",
	},
	"delete-emptydir-data": {
		kind: "boolean",
		describe: "Also take pods with emptyDir volumes; what is in these is lost",
	},
};

/** What a drain takes and how: a plan takes the same. */
const drainFlags: FlagTable = {
	...selector,
	"pod-selector": { kind: "text", default: "", describe: "Label selector for the pods on the nodes" },
	...drainFilters,
	...gracePeriod,
	timeout: {
		kind: "duration",
		default: 0,
		describe: "How long each node may take, such as 30s or 1h30m; 0: for ever",
	},
	"disable-eviction": {
		kind: "boolean",
		describe: "Delete pods instead of evicting them: PodDisruptionBudgets are not asked, those of xpdb are",
	},
	"skip-wait-for-delete-timeout": {
		kind: "number",
		default: 0,
		describe:
			"Neither take nor wait for pods that have been terminating for longer than so many seconds; 0: wait for all",
	},
	"chunk-size": { kind: "number", default: 500, describe: "How many objects to ask for at a time; 0: all" },
	"max-nodes": { kind: "number", default: 1, describe: "Nodes to drain at a time in each cluster" },
	"order-by": {
		kind: "text",
		default: "",
		value: "LABEL|priority",
		describe: "Pods of a node by a label's value or by priority, lowest first; the next when these are gone",
	},
};

export const commands: readonly Command[] = [
	{
		name: "evict",
		words: "POD... | TYPE NAME... | TYPE/NAME... | -l SELECTOR",
		describe: "Evict pods under the budgets of all clusters",
		examples: [
			["Evict a pod and wait until it is gone", "kubectl xpdb evict db-0"],
			["All pods of a StatefulSet, as fast as its budget allows", "kubectl xpdb evict sts/db --for=replaced"],
			["In three clusters", "kubectl xpdb evict sts/db --contexts=eu,us,ap"],
		],
		flags: {
			...selector,
			"all-namespaces": { kind: "boolean", short: "A", describe: "With -l: pods of all namespaces" },
			wait: { kind: "boolean", default: true, describe: "Wait until the pods are gone" },
			...waitUntilFlag,
			timeout: { kind: "duration", default: 0, describe: "How long the whole command may take; 0: for ever" },
			...gracePeriod,
			...dryRun,
			...runOutput,
			...report,
			...ui,
			...yes,
		},
		load: async () => (await import("./commands/evict.ts")).runEvict,
	},
	{
		name: "drain",
		words: "NODE... | --resume ID",
		describe: "Drain nodes under the budgets of all clusters",
		examples: [
			["Drain one node, as kubectl drain does", "kubectl xpdb drain node-1 --ignore-daemonsets"],
			[
				"Nodes of two clusters side by side",
				"kubectl xpdb drain eu/node-1 us/node-4 --contexts=eu,us --ignore-daemonsets",
			],
			[
				"All nodes of a pool, two at a time in each cluster",
				"kubectl xpdb drain -l pool=old --max-nodes=2 --contexts=eu,us",
			],
			[
				"Go on with a drain that was interrupted, from any machine",
				"kubectl xpdb drain --resume 7f3c2a --contexts=eu,us",
			],
		],
		flags: {
			...drainFlags,
			...waitUntilFlag,
			resume: { kind: "text", default: "", value: "ID", describe: "Go on with this drain, with its flags" },
			...dryRun,
			...runOutput,
			...report,
			...ui,
			...yes,
		},
		load: async () => (await import("./commands/drain.ts")).runDrain,
	},
	{
		name: "plan",
		words: "NODE...",
		describe: "Show what a drain would do, and what can never go",
		examples: [
			["Before a drain, with its nodes and flags", "kubectl xpdb plan node-1 --ignore-daemonsets"],
			["Nodes of two clusters", "kubectl xpdb plan eu/node-1 us/node-4 --contexts=eu,us"],
			["What could never go, for a script", "kubectl xpdb plan node-1 -o json | jq .impossible"],
		],
		flags: {
			...drainFlags,
			output: {
				kind: "text",
				short: "o",
				default: "",
				value: "json|yaml|wide",
				describe: "json, yaml: the whole plan as one document; wide: a line for each pod",
			},
			"dry-run": { kind: "text", default: "none", bare: "client", describe: "Taken for drain's sake: a plan is one" },
			for: { kind: "text", default: "deleted", describe: "Taken for drain's sake: a plan waits for nothing" },
			yes: { kind: "boolean", short: "y", describe: "Taken for drain's sake: a plan asks nothing" },
		},
		load: async () => (await import("./commands/plan.ts")).runPlan,
	},
	{
		name: "explain",
		words: "pod/NAME | budget/NAME | node/NAME",
		describe: "Explain why something can or cannot be evicted",
		examples: [
			["Why a pod does not go", "kubectl xpdb explain pod/db-0 -n shop"],
			["What a budget waits for, over all clusters", "kubectl xpdb explain budget/db --contexts=eu,us,ap"],
			["What would keep the drain of a node", "kubectl xpdb explain node/node-1 --ignore-daemonsets"],
			["In a script: exit code 0 is a yes", "kubectl xpdb explain pod/db-0 -n shop > /dev/null && echo go"],
		],
		flags: {
			...drainFilters,
			...readOutput("json|yaml|wide", "json, yaml: as one document; wide: every pod of a node by its name"),
		},
		load: async () => (await import("./commands/explain.ts")).runExplain,
	},
	{
		name: "cordon",
		words: "NODE...",
		describe: "Mark nodes as unschedulable",
		examples: [["Mark a node as unschedulable", "kubectl xpdb cordon node-1"]],
		flags: { ...selector, ...dryRun, ...runOutput, ...yes },
		load: async () => (await import("./commands/cordon.ts")).runCordon,
	},
	{
		name: "uncordon",
		words: "NODE... | --op ID",
		describe: "Mark nodes as schedulable",
		examples: [
			["Mark a node as schedulable", "kubectl xpdb uncordon node-1"],
			["Take back the cordons of a drain", "kubectl xpdb uncordon --op 7f3c2a --contexts=eu,us"],
		],
		flags: {
			...selector,
			op: { kind: "text", default: "", value: "ID", describe: "The nodes that this drain cordoned, and no others" },
			...dryRun,
			...runOutput,
			...yes,
		},
		load: async () => (await import("./commands/cordon.ts")).runUncordon,
	},
	{
		name: "budgets",
		words: "[NAME...]",
		describe: "Show what the budgets allow over all clusters",
		examples: [
			["Budgets of the namespace", "kubectl xpdb budgets"],
			["One, and each pod that uses it up", "kubectl xpdb budgets db"],
			["Of all namespaces, with the pods of each cluster", "kubectl xpdb budgets -A -o wide"],
			["All of the fleet, as they change", "kubectl xpdb budgets -A -w"],
		],
		flags: {
			"all-namespaces": { kind: "boolean", short: "A", describe: "Budgets of all namespaces" },
			...readOutput("json|yaml|name|wide", "wide: a column for each cluster, and each pod that uses a budget up"),
			"no-headers": { kind: "boolean", describe: "Do not print the headers" },
			watch: { kind: "boolean", short: "w", describe: "Go on with what changes, until Ctrl-C" },
			...watchUiFlag,
		},
		load: async () => (await import("./commands/budgets.ts")).runBudgets,
	},
	{
		name: "leases",
		words: "[BUDGET...]",
		describe: "Show who holds the Leases, who waits, and granted pods",
		examples: [
			["Of the namespace, in three clusters", "kubectl xpdb leases --contexts=eu,us,ap"],
			["Of one budget, with each pod that was granted", "kubectl xpdb leases db -o wide"],
			["Whatever changes, for a script", "kubectl xpdb leases -A -w -o json"],
			["End what somebody holds who is stuck", "kubectl xpdb leases release db --context=eu"],
		],
		flags: {
			"all-namespaces": { kind: "boolean", short: "A", describe: "Leases of the budgets of all namespaces" },
			watch: { kind: "boolean", short: "w", describe: "Go on with what changes, until Ctrl-C; the busiest first" },
			...readOutput(
				"json|yaml|name|wide",
				"wide: with operations, accounts, fences, the Lease's names, and each pod that was granted",
			),
			"no-headers": { kind: "boolean", describe: "Do not print the headers" },
			...watchUiFlag,
		},
		load: async () => (await import("./commands/leases.ts")).runLeases,
	},
	{
		name: "leases release",
		words: "BUDGET",
		describe: "End what somebody holds of a budget, who is stuck",
		examples: [
			["In the cluster where it is held", "kubectl xpdb leases release db --context=eu"],
			["In a script", "kubectl xpdb leases release db --context=eu --confirm=db"],
		],
		flags: {
			confirm: {
				kind: "text",
				default: "",
				value: "NAME",
				describe: "The budget's name, for want of a terminal to ask on",
			},
		},
		load: async () => (await import("./commands/release-lease.ts")).runReleaseLease,
	},
	{
		name: "suspend",
		words: "BUDGET",
		describe: "Let a budget hold nothing back, in all clusters at once",
		examples: [
			[
				"In all members of the fleet, and why",
				'kubectl xpdb suspend db --reason "storage migration" --contexts=eu,us,ap',
			],
			["Who may do it, and what it would touch", "kubectl xpdb suspend db --dry-run=server --contexts=eu,us,ap"],
		],
		flags: {
			reason: { kind: "text", default: "", describe: "Why, for the others: in the annotation, the Event and budgets" },
			...dryRun,
			...runOutput,
			...yes,
		},
		load: async () => (await import("./commands/suspend.ts")).runSuspend,
	},
	{
		name: "unsuspend",
		words: "BUDGET",
		describe: "Let a suspended budget hold again, in all clusters",
		examples: [["In all members of the fleet", "kubectl xpdb unsuspend db --contexts=eu,us,ap"]],
		flags: {
			reason: { kind: "text", default: "", describe: "Why, for the others: in the Event" },
			...dryRun,
			...runOutput,
			...yes,
		},
		load: async () => (await import("./commands/suspend.ts")).runUnsuspend,
	},
	{
		name: "ops",
		words: "",
		describe: "Show unfinished drains, and how to go on or take them back",
		examples: [["In three clusters", "kubectl xpdb ops --contexts=eu,us,ap"]],
		flags: {
			...readOutput("json|yaml|name|wide", "wide: with the names of the nodes that are left"),
			"no-headers": { kind: "boolean", describe: "Do not print the headers" },
		},
		load: async () => (await import("./commands/ops.ts")).runOps,
	},
	{
		name: "check",
		words: "",
		describe: "Say what is wrong with the fleet, and what to do about it",
		examples: [
			["All clusters, side by side", "kubectl xpdb check --contexts=eu,us,ap"],
			["Problems only", "kubectl xpdb check --contexts=eu,us,ap -o short"],
			["Before the agents are installed", "kubectl xpdb check --pre --contexts=eu,us,ap"],
			["In a pipeline, where warnings stop it too", "kubectl xpdb check --contexts=eu,us --fail-on=warn -o json"],
			["Until agents that were just started are ready", "kubectl xpdb check --contexts=eu,us --wait --timeout=2m"],
		],
		flags: {
			...readOutput("short|json|yaml", "short: only what is not well; json, yaml: as one document"),
			pre: { kind: "boolean", describe: "Before agents are installed: whether they can be, and what is in the way" },
			"fail-on": {
				kind: "text",
				default: "error",
				value: "error|warn",
				describe: "warn: end with exit code 3 for warnings too",
			},
			wait: { kind: "boolean", describe: "Check again until nothing is left that has to be put right" },
			timeout: { kind: "duration", default: 300_000, describe: "How long to wait with --wait; 0: for ever" },
		},
		load: async () => (await import("./commands/check.ts")).runCheck,
	},
	{
		name: "report",
		words: "FILE",
		describe: "Make a page with a picture of a recorded run",
		examples: [
			["Record a drain, then draw it", "kubectl xpdb drain node-1 --ignore-daemonsets -o json > run.ndjson"],
			["For a browser, a printer or a change ticket", "kubectl xpdb report run.ndjson > run.html"],
		],
		flags: {},
		load: async () => (await import("./commands/report.ts")).runReport,
	},
	...fleetCommands,
	{
		name: "completion",
		words: "bash|zsh|fish|install|uninstall",
		describe: "Complete commands, flags and names at the Tab key",
		examples: [
			["For kubectl xpdb, where kubectl's own completion is set up", "kubectl xpdb completion install"],
			["For kubectl-xpdb, in this shell", "source <(kubectl xpdb completion bash)"],
		],
		flags: {},
		load: async () => (await import("./commands/completion.ts")).runCompletion,
	},
	...setupCommands,
	{
		name: "version",
		words: "",
		describe: "Show the versions of the plugin and of the agents",
		examples: [["Plugin and agents", "kubectl xpdb version --contexts=eu,us"]],
		flags: {
			client: { kind: "boolean", describe: "Only the plugin's own version" },
			...readOutput("json|yaml", "As JSON or YAML"),
		},
		load: async () => (await import("./commands/version.ts")).runVersion,
	},
];

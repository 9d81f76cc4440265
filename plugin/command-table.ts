// Defines all commands of kubectl xpdb.
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
		describe: "client: only print what would be done; server: send requests as dry runs",
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
	output: { kind: "text", short: "o", default: "", value: "json", describe: "json: one JSON object per line" },
};
const report: FlagTable = {
	report: { kind: "text", default: "", value: "FILE", describe: "Write an HTML report of the run to this file" },
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
const yes: FlagTable = {
	yes: { kind: "boolean", short: "y", describe: "Do not ask for confirmation, even with several contexts" },
};
const gracePeriod: FlagTable = {
	"grace-period": {
		kind: "number",
		default: -1,
		describe: "Seconds that each pod gets to terminate; negative: the pod's own grace period",
	},
};

/** The flags that select which pods of a node a drain evicts. */
const drainFilters: FlagTable = {
	force: {
		kind: "boolean",
		describe: "Also evict pods that declare no controller, or whose DaemonSet is gone",
	},
	"ignore-daemonsets": {
		kind: "boolean",
		describe: "Leave DaemonSet pods in place; without this flag they are an error",
	},
	"delete-emptydir-data": {
		kind: "boolean",
		describe: "Also evict pods with emptyDir volumes; their data is lost",
	},
};

/** The same flags for an explanation, which evicts nothing. */
const judgedFilters: FlagTable = Object.fromEntries(
	Object.keys(drainFilters).map((name) => [name, { kind: "boolean", describe: `Judge as for a drain with --${name}` }]),
);

/** The flags that say what a drain evicts and how. A plan has the same flags. */
const drainFlags: FlagTable = {
	...selector,
	"pod-selector": { kind: "text", default: "", describe: "Label selector for the pods on the nodes" },
	...drainFilters,
	...gracePeriod,
	timeout: {
		kind: "duration",
		default: 0,
		describe: "Time limit for each node, such as 30s or 1h30m; 0: no limit",
	},
	"disable-eviction": {
		kind: "boolean",
		describe: "Delete pods instead of evicting them: this bypasses PodDisruptionBudgets, but not xpdb's budgets",
	},
	"skip-wait-for-delete-timeout": {
		kind: "number",
		default: 0,
		describe: "Skip pods that have been terminating for more than this many seconds; 0: skip none",
	},
	"chunk-size": { kind: "number", default: 500, describe: "How many objects to request at a time; 0: all" },
	"max-nodes": { kind: "number", default: 1, describe: "How many nodes of each cluster to drain at a time" },
	"order-by": {
		kind: "text",
		default: "",
		value: "LABEL|priority",
		describe:
			"Evict the pods of a node in the order of a label's value or of their priority, lowest first; each group waits for the previous one",
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
			timeout: { kind: "duration", default: 0, describe: "Time limit for the whole command; 0: no limit" },
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
			["Resume an interrupted drain, from any machine", "kubectl xpdb drain --resume 7f3c2a --contexts=eu,us"],
		],
		flags: {
			...drainFlags,
			...waitUntilFlag,
			resume: {
				kind: "text",
				default: "",
				value: "ID",
				describe: "Resume this drain with its flags; retype those that can lose data or bypass PodDisruptionBudgets",
			},
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
		describe: "Show what a drain would do, and what can never be evicted",
		examples: [
			["Before a drain, with its nodes and flags", "kubectl xpdb plan node-1 --ignore-daemonsets"],
			["Nodes of two clusters", "kubectl xpdb plan eu/node-1 us/node-4 --contexts=eu,us"],
			["Pods that can never be evicted, for a script", "kubectl xpdb plan node-1 -o json | jq .impossible"],
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
			"dry-run": {
				kind: "text",
				default: "none",
				bare: "client",
				describe: "Accepted because drain has it: a plan is always a dry run",
			},
			for: { kind: "text", default: "deleted", describe: "Accepted because drain has it: a plan never waits" },
			yes: { kind: "boolean", short: "y", describe: "Accepted because drain has it: a plan never asks" },
		},
		load: async () => (await import("./commands/plan.ts")).runPlan,
	},
	{
		name: "explain",
		words: "pod/NAME | budget/NAME | node/NAME",
		describe: "Explain why something can or cannot be evicted",
		examples: [
			["Why a pod is not evicted", "kubectl xpdb explain pod/db-0 -n shop"],
			["Why a budget blocks evictions, across all clusters", "kubectl xpdb explain budget/db --contexts=eu,us,ap"],
			["What would block the drain of a node", "kubectl xpdb explain node/node-1 --ignore-daemonsets"],
			["In a script: exit code 0 means yes", "kubectl xpdb explain pod/db-0 -n shop > /dev/null && echo go"],
		],
		flags: {
			...judgedFilters,
			...readOutput("json|yaml|wide", "json, yaml: one document; wide: also the name of every pod of a node"),
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
			["Undo the cordons of a drain", "kubectl xpdb uncordon --op 7f3c2a --contexts=eu,us"],
		],
		flags: {
			...selector,
			op: { kind: "text", default: "", value: "ID", describe: "Only the nodes that this drain cordoned" },
			...dryRun,
			...runOutput,
			...yes,
		},
		load: async () => (await import("./commands/cordon.ts")).runUncordon,
	},
	{
		name: "budgets",
		words: "[NAME...]",
		describe: "Show what the budgets allow across all clusters",
		examples: [
			["Budgets of the namespace", "kubectl xpdb budgets"],
			["One budget, and each pod that uses it up", "kubectl xpdb budgets db"],
			["Budgets of all namespaces, with the pods of each cluster", "kubectl xpdb budgets -A -o wide"],
			["All budgets of the fleet, as they change", "kubectl xpdb budgets -A -w"],
		],
		flags: {
			"all-namespaces": { kind: "boolean", short: "A", describe: "Budgets of all namespaces" },
			...readOutput("json|yaml|name|wide", "wide: a column for each cluster, and each pod that uses a budget up"),
			"no-headers": { kind: "boolean", describe: "Do not print the headers" },
			watch: { kind: "boolean", short: "w", describe: "Keep showing changes, until Ctrl-C" },
			...watchUiFlag,
		},
		load: async () => (await import("./commands/budgets.ts")).runBudgets,
	},
	{
		name: "leases",
		words: "[BUDGET...]",
		describe: "Show the holders of Leases, waiting runs and granted pods",
		examples: [
			["Leases of the namespace, in three clusters", "kubectl xpdb leases --contexts=eu,us,ap"],
			["Leases of one budget, with each granted pod", "kubectl xpdb leases db -o wide"],
			["All changes, for a script", "kubectl xpdb leases -A -w -o json"],
			["Release the hold of a stuck run", "kubectl xpdb leases release db --context=eu"],
		],
		flags: {
			"all-namespaces": { kind: "boolean", short: "A", describe: "Leases of the budgets of all namespaces" },
			watch: { kind: "boolean", short: "w", describe: "Keep showing changes, until Ctrl-C; the busiest Leases first" },
			...readOutput(
				"json|yaml|name|wide",
				"wide: also operations, accounts, fencing tokens, the names of the Leases, and each granted pod",
			),
			"no-headers": { kind: "boolean", describe: "Do not print the headers" },
			...watchUiFlag,
		},
		load: async () => (await import("./commands/leases.ts")).runLeases,
	},
	{
		name: "leases release",
		words: "BUDGET",
		describe: "Release the hold of a stuck run on a budget",
		examples: [
			["In the cluster where the run holds it", "kubectl xpdb leases release db --context=eu"],
			["In a script", "kubectl xpdb leases release db --context=eu --confirm=db"],
		],
		flags: {
			confirm: {
				kind: "text",
				default: "",
				value: "NAME",
				describe: "The budget's name: confirms without a prompt",
			},
		},
		load: async () => (await import("./commands/release-lease.ts")).runReleaseLease,
	},
	{
		name: "suspend",
		words: "BUDGET",
		describe: "Suspend a budget in all clusters at once",
		examples: [
			["Suspend a budget in every cluster", 'kubectl xpdb suspend db --reason "storage migration" --contexts=eu,us,ap'],
			["Check your rights, and show what would change", "kubectl xpdb suspend db --dry-run=server --contexts=eu,us,ap"],
		],
		flags: {
			reason: { kind: "text", default: "", describe: "Why; shown in the Event and by 'kubectl xpdb budgets'" },
			...dryRun,
			...runOutput,
			...yes,
		},
		load: async () => (await import("./commands/suspend.ts")).runSuspend,
	},
	{
		name: "unsuspend",
		words: "BUDGET",
		describe: "End the suspension of a budget in all clusters",
		examples: [["In every cluster of the fleet", "kubectl xpdb unsuspend db --contexts=eu,us,ap"]],
		flags: {
			reason: { kind: "text", default: "", describe: "Why; shown in the Event" },
			...dryRun,
			...runOutput,
			...yes,
		},
		load: async () => (await import("./commands/suspend.ts")).runUnsuspend,
	},
	{
		name: "ops",
		words: "",
		describe: "Show unfinished drains, and how to resume or undo them",
		examples: [["In three clusters", "kubectl xpdb ops --contexts=eu,us,ap"]],
		flags: {
			...readOutput("json|yaml|name|wide", "wide: also the names of the nodes that are left"),
			"no-headers": { kind: "boolean", describe: "Do not print the headers" },
		},
		load: async () => (await import("./commands/ops.ts")).runOps,
	},
	{
		name: "check",
		words: "",
		describe: "Find what is wrong with the fleet, and how to fix it",
		examples: [
			["All clusters, side by side", "kubectl xpdb check --contexts=eu,us,ap"],
			["Problems only", "kubectl xpdb check --contexts=eu,us,ap -o short"],
			["Before the agents are installed", "kubectl xpdb check --pre --contexts=eu,us,ap"],
			["In a pipeline that also stops on warnings", "kubectl xpdb check --contexts=eu,us --fail-on=warn -o json"],
			["Wait until new agents are ready", "kubectl xpdb check --contexts=eu,us --wait --timeout=2m"],
		],
		flags: {
			...readOutput("short|json|yaml", "short: problems only; json, yaml: one document"),
			pre: {
				kind: "boolean",
				describe: "Before an installation: check whether it can succeed, and what would prevent it",
			},
			"fail-on": {
				kind: "text",
				default: "error",
				value: "error|warn",
				describe: "warn: exit code 3 for warnings too",
			},
			wait: { kind: "boolean", describe: "Repeat the checks until none fails" },
			timeout: { kind: "duration", default: 300_000, describe: "Time limit for --wait; 0: no limit" },
		},
		load: async () => (await import("./commands/check.ts")).runCheck,
	},
	{
		name: "report",
		words: "FILE",
		describe: "Make an HTML report of a recorded run",
		examples: [
			["Record a drain for a report", "kubectl xpdb drain node-1 --ignore-daemonsets -o json > run.ndjson"],
			["Make the report, for a browser or a change ticket", "kubectl xpdb report run.ndjson > run.html"],
		],
		flags: {},
		load: async () => (await import("./commands/report.ts")).runReport,
	},
	...fleetCommands,
	{
		name: "completion",
		words: "bash|zsh|fish|install|uninstall",
		describe: "Set up Tab completion of commands, flags and names",
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

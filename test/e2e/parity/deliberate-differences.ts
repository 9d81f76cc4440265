// Lists every deliberate difference from kubectl, also as the source of docs/kubectl.md. The side-by-side test checks that these
// differences exist exactly as `apply` says, and no others.
import { budgetDifferences } from "./budget-differences.ts";
import type { DeliberateDifference } from "./deliberate-difference.ts";

const bothWays = (name: string): readonly string[] => [`cordon: ${name}`, `uncordon: ${name}`];

/** Keeps only the first of identical lines that begin with `start`. */
function once(lines: readonly string[], start: string): readonly string[] {
	return lines.filter((line, index) => !line.startsWith(start) || lines.indexOf(line) === index);
}

function replaced(lines: readonly string[], from: string | RegExp, to: string): readonly string[] {
	return lines.map((line) => line.replace(from, to));
}

const lastError = (lines: readonly string[]): string => lines.at(-1) ?? "";
const evicting = "evicting pod parity/web-0";
const waitError = 'error when waiting for pod "web-0" in namespace "parity" to terminate: context deadline exceeded';
const uncordoned = [
	'error: unable to drain node "parity-a" due to error: it could not be cordoned, continuing command...',
	"There are pending nodes to be drained:",
	" parity-a",
	"it could not be cordoned",
];

export const deliberateDifferences: readonly DeliberateDifference[] = [
	{
		subject: "a cluster without agents and without `XPodDisruptionBudget`s",
		kubectl: "says nothing",
		ours: "warns once, then drains as kubectl does",
		reason: "a user who expects a budget across many clusters must know that there is none",
		situations: [
			"without agents: everything goes",
			"without agents: a filter refuses",
			"without agents: a budget of Kubernetes' own blocks until --timeout",
			"without agents: a user who may not evict",
		],
		apply: (outcome) => ({
			...outcome,
			stderr: [
				"Warning: no xpdb agent and no XPodDisruptionBudget in this cluster: only its own PodDisruptionBudgets are obeyed",
				...outcome.stderr,
			],
		}),
	},
	{
		subject: "a node that is already cordoned, and that the user may not patch",
		kubectl: "patches nothing",
		ours: "warns that it cannot write its annotation on the node",
		reason: "without the annotation, `ops`, `--resume` and `uncordon --op` do not find the run",
		situations: ["without agents: a user who may not evict"],
		apply: (outcome) => ({
			...outcome,
			stderr: outcome.stderr.toSpliced(
				1,
				0,
				'Warning: cannot write annotations of node "parity-a": nodes "parity-a" is forbidden: User "viewer" cannot patch resource "nodes" in API group "" at the cluster scope',
			),
		}),
	},
	{
		subject: "a node that cannot be cordoned, in `drain`",
		kubectl: "still evicts its pods, exit code 0",
		ours: "does not evict its pods, exit code 1",
		reason: "the pods could return to that node at once",
		situations: ["drain: a node that cannot be cordoned"],
		apply: (outcome) => ({
			...outcome,
			code: 1,
			stdout: [],
			stderr: [...outcome.stderr, ...uncordoned],
			// With kubectl, a replacement may already be there.
			after: ["node parity-a", "pod web-0"],
		}),
	},
	{
		subject: "a node that cannot be cordoned or uncordoned, in `cordon` and `uncordon`",
		kubectl: "exit code 0",
		ours: "exit code 1",
		reason: "a script must see the failure",
		situations: [...bothWays("refused by a policy"), ...bothWays("without the right")],
		apply: (outcome) => ({ ...outcome, code: 1 }),
	},
	{
		subject: "a node named twice",
		kubectl: "handles it twice",
		ours: "handles it once",
		reason: "it is one node",
		situations: ["drain: the same node twice", ...bothWays("already"), ...bothWays("the same twice")],
		apply: (outcome) => ({ ...outcome, stdout: [...new Set(outcome.stdout)] }),
	},
	{
		subject: "an eviction that the API server answers with 500, 503 or 504",
		kubectl: "fails the pod",
		ours: "retries every 5 seconds, as after a 429. A pod with two PodDisruptionBudgets fails at once, as with kubectl",
		reason: "a short outage of a webhook or of etcd should not end a drain",
		situations: ["a webhook that cannot be reached"],
		apply: (outcome) => {
			const start = 'error when evicting pods/"web-0" -n "parity"';
			const answer = lastError(outcome.stderr).replace(`${start}: `, "");
			return {
				...outcome,
				stderr: [
					`${start} (will retry after 5s): ${answer}`,
					...outcome.stderr.map((line) => line.replace(answer, () => "global timeout reached: 13s")),
				],
			};
		},
	},
	{
		subject: "an eviction that is refused with a `Retry-After`",
		kubectl: "retries up to ten times and says nothing",
		ours: "says that it is refused and what refuses it, and retries after 5 seconds",
		reason: "the user sees what the drain waits for",
		situations: ["a webhook says 429 once, with a Retry-After"],
		apply: (outcome) => ({
			...outcome,
			stdout: outcome.stdout.flatMap((line) => (line === evicting ? [line, line] : [line])),
			stderr: [
				'error when evicting pods/"web-0" -n "parity" (will retry after 5s): admission webhook "evictions.example.com" denied the request: not now',
			],
		}),
	},
	{
		subject: "a pod that was replaced under its name while it waited",
		kubectl: "also evicts the new pod",
		ours: "does not evict the new pod",
		reason: "the eviction names the uid of the pod that was on the node",
		situations: ["a pod that is replaced under its name while it waits"],
		apply: (outcome) => ({ ...outcome, stdout: outcome.stdout.filter((line) => line !== "pod/web-0 evicted") }),
	},
	{
		subject: "`--timeout` while a pod waits for its next try",
		kubectl: "ends at that try, up to 5 seconds later",
		ours: "ends at once",
		reason: "this is the time limit that the user set",
		// In the other situations, all attempts are merged, because their number depends on the agents' speed.
		situations: ["without agents: a budget of Kubernetes' own blocks until --timeout"],
		apply: (outcome) => ({ ...outcome, stdout: once(outcome.stdout, "evicting pod") }),
	},
	{
		subject: "a pod that takes long",
		kubectl: "says nothing",
		ours: "prints its progress on stderr every 15 seconds, in one line",
		reason: "the user can tell a slow drain from a hung one, also in a log",
		situations: ["a pod that takes a quarter of a minute to end"],
		apply: (outcome) => ({ ...outcome, stderr: ["progress 0/1 pods, 0/1 nodes, 1 terminating, 0 waiting"] }),
	},
	{
		subject: "Ctrl-C",
		kubectl: "exits at once",
		ours: "waits for the terminating pods, and says which nodes are still cordoned and how to resume or undo. A second Ctrl-C exits at once",
		reason: "it releases what it reserved under a budget, and the user knows what was done",
		situations: ["Ctrl-C while a budget blocks"],
		apply: (outcome) => ({
			...outcome,
			stderr: [
				...outcome.stderr,
				"Stopping: no new evictions. Press Ctrl-C again to exit now.",
				"Still cordoned: parity-a",
				"Continue:     kubectl drain --resume ID --context=CONTEXT",
				"Undo cordons: kubectl uncordon --op ID --context=CONTEXT",
			],
		}),
	},
	{
		subject: "`| head`, or another reader that closes the output",
		kubectl: "is killed at its next line (SIGPIPE, exit code 141)",
		ours: "stops as after Ctrl-C, with exit code 2",
		reason: "it releases what it reserved under a budget, and the user knows what was done",
		situations: ["a reader that has closed the output"],
		apply: (outcome) => ({
			...outcome,
			code: 2,
			stderr: [
				"Stopping: no new evictions. Press Ctrl-C again to exit now.",
				"Still cordoned: parity-a",
				"Continue:     kubectl drain --resume ID --context=CONTEXT",
				"Undo cordons: kubectl uncordon --op ID --context=CONTEXT",
			],
		}),
	},
	{
		subject: "`--disable-eviction` and a pod that cannot be deleted",
		kubectl:
			"deletes one pod after the other, stops at the first that it may not delete, and does not say which is late",
		ours: "deletes them in parallel, fails only those that it may not delete, and names them",
		reason: "one pod should not block the others, and a message needs a name to be useful",
		situations: ["--disable-eviction until --timeout", "--disable-eviction where deleting is refused"],
		apply(outcome) {
			const stderr = replaced(
				replaced(outcome.stderr, /^error: context deadline exceeded$/, waitError),
				/(error(?: occurred)?:) context deadline exceeded/,
				`$1 ${waitError}`,
			);
			const denial = (pod: string): string =>
				`error when deleting pods/"${pod}" -n "parity": pods "${pod}" is forbidden: ValidatingAdmissionPolicy 'parity' with binding 'parity' denied request: nobody deletes here`;
			const both = `[${denial("web-0")}, ${denial("web-1")}]`;
			return {
				...outcome,
				stderr: replaced(stderr, /pods "web-0" is forbidden: .* nobody deletes here/, both).flatMap((line) =>
					line.startsWith('The pods "web-0" is invalid') ? [denial("web-0"), denial("web-1")] : [line],
				),
			};
		},
	},
	{
		subject: "`--dry-run=server` of a pod that cannot be evicted now",
		kubectl: "retries until `--timeout`, or for ever",
		ours: "asks once and says why",
		reason: "waiting changes nothing, because a dry run evicts no pod",
		situations: ["a server's dry run that a budget blocks"],
		apply: (outcome) => ({
			...outcome,
			stdout: once(outcome.stdout, "evicting pod"),
			stderr: replaced(
				outcome.stderr.slice(1),
				"global timeout reached: 13s",
				"Cannot evict pod as it would violate the pod's disruption budget.",
			),
		}),
	},
	{
		subject: "`--dry-run=server` with `--disable-eviction`",
		kubectl: "waits for the end of pods that it did not delete",
		ours: "names the pods and exits",
		reason: "a dry run deletes nothing",
		situations: ["a server's dry run with --disable-eviction"],
		apply: (outcome) => ({
			...outcome,
			code: 0,
			stdout: [...outcome.stdout, `${evicting} (server dry run)`, "node/parity-a drained (server dry run)"],
			stderr: [],
		}),
	},
	...budgetDifferences,
	{
		subject: "`TYPE/NAME` of another type, where a node is named",
		kubectl: "looks for that object first",
		ours: "refuses at once",
		reason: "it cannot be a node, whether it exists or not",
		situations: ["drain: TYPE/NAME of another type", "drain: TYPE/NAME of a type that is not there"],
		apply: (outcome) => ({
			...outcome,
			stderr: [`error: "${lastError(outcome.stderr).includes("rockets") ? "rockets" : "pod"}/web-0" is not a node`],
		}),
	},
	{
		subject: "a kubeconfig in which no context is chosen",
		kubectl: "asks a server at localhost:8080",
		ours: "says what to set",
		reason: "the user did not mean that server",
		situations: ["drain: a kubeconfig without a context"],
		apply: (outcome) => ({
			...outcome,
			stderr: ["error: no context is chosen: set KUBECONFIG, or use --kubeconfig, and --contexts or --context"],
		}),
	},
	{
		subject: "a kubeconfig that cannot be parsed",
		kubectl: "prints the error of Go's parser",
		ours: "names the file, the entry and the field, and says what is wrong with it",
		reason: "the user has to fix the file",
		situations: ["drain: a kubeconfig that is none"],
		apply: (outcome) => ({
			...outcome,
			stderr: replaced(outcome.stderr, /: couldn't get .*/, ": it is not a kubeconfig"),
		}),
	},
	{
		subject: "`--match-server-version`",
		kubectl: "stops if the server's version differs from its own",
		ours: "refuses the flag",
		reason: "`kubectl xpdb` has its own versions, which no server has",
		situations: ["cordon: --match-server-version"],
		apply: (outcome) => ({
			...outcome,
			stderr: [
				"error: the plugin has a version of its own, which no server matches",
				"Leave out --match-server-version",
			],
		}),
	},
	{
		subject: "an empty `-l`",
		kubectl: "asks for resources or files",
		ours: "shows the usage, as without any node",
		reason: "there is neither a node nor a selector",
		situations: ["drain: -l with nothing"],
		assertions: ["must provide one or more resources"],
		apply: (outcome) => ({
			...outcome,
			stderr: ["error: USAGE: drain NODE [flags]", "See 'kubectl drain -h' for help and examples"],
		}),
	},
	{
		subject: "a flag that is misspelt",
		kubectl: "says that it is unknown",
		ours: "also suggests the flag that may be meant",
		reason: "the user does not have to open the help",
		situations: ["drain: a flag misspelt"],
		apply: (outcome) => ({
			...outcome,
			stderr: outcome.stderr.toSpliced(1, 0, "Did you mean --ignore-daemonsets?"),
		}),
	},
	{
		subject: "`-v=6` and more",
		kubectl:
			"also logs its files, its feature gates and the kinds that a server has. With 7 and 8, an answer does not name its request",
		ours: "logs its requests, and calls to agents in the same form. Each answer names its request. Tokens, keys and ids of reservations are masked, also in bodies",
		reason: "it sends many requests at a time, and people send logs to each other",
		situations: bothWays("-v=6"),
		apply: (outcome) => ({
			...outcome,
			stderr: outcome.stderr
				.filter((line) => / verb="[A-Z]+" url="[^"]*\/api\/v1\/nodes\/parity-a" /.test(line))
				.map((line) => line.replace(/(verb="PATCH" url="[^"]*)/, "$1?fieldManager=kubectl-xpdb")),
		}),
	},
	{
		subject: "a request that takes longer than `--request-timeout`",
		kubectl: "says in one of three ways that a deadline or a context is exceeded",
		ours: "says how long it has waited for an answer, exit code 4",
		reason: "the user has to raise the flag's value, and exit code 4 says that a cluster was too slow",
		situations: ["drain: a request that takes longer than --request-timeout"],
		apply: (outcome) => ({
			...outcome,
			code: 4,
			stderr: outcome.stderr.map((line) =>
				/deadline exceeded|Client\.Timeout/.test(line) ? "Unable to connect to the server: no answer within 1µs" : line,
			),
		}),
	},
	{
		subject: "a context, cluster or user that is misspelt",
		kubectl: "says that it does not exist",
		ours: "also suggests the one that may be meant or, if there is none, names the missing files of `KUBECONFIG`",
		reason: "the user does not have to open the kubeconfig",
		situations: ["drain: --context misspelt"],
		apply: (outcome) => ({
			...outcome,
			stderr: replaced(outcome.stderr, /does not exist$/, "does not exist (did you mean c1-operator?)"),
		}),
	},
	{
		subject: "lines of kubectl's own log (`W0102 15:04:05 …`)",
		kubectl:
			"prints warnings about deprecated flags and missing files in `KUBECONFIG`, and each failed attempt to reach a server, with time and source file",
		ours: "prints the warnings as `Warning: …`, and only the error with which it ends",
		reason: "such lines are for the developers of kubectl",
		situations: [
			"--dry-run by itself",
			"--dry-run=true",
			"--dry-run=false",
			...bothWays("--dry-run by itself"),
			"drain: a server that refuses the connection",
			"drain: --server without a scheme",
			"drain: a proxy in the environment that is not there",
			"cordon: a server that refuses the connection",
		],
		apply: (outcome) => ({
			...outcome,
			stderr: replaced(outcome.stderr, /^LOG W: /, "Warning: ").filter((line) => !line.startsWith("LOG")),
		}),
	},
];

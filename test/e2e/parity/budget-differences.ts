// Deliberate differences in messages about PodDisruptionBudgets.
import type { DeliberateDifference } from "./deliberate-difference.ts";

export const budgetDifferences: readonly DeliberateDifference[] = [
	{
		subject: "an eviction that a PodDisruptionBudget refuses",
		kubectl: "does not name the budget",
		ours: "adds the budget's name, and how many healthy pods it needs and has, in the API server's words",
		reason: "the next question is which budget it was",
		situations: [
			"a budget that blocks, and is gone after a while",
			"a budget that blocks until --timeout",
			"--timeout holds for each node",
			"a pod that somebody deletes while it waits",
			"a pod that is replaced under its name while it waits",
			"Ctrl-C while a budget blocks",
			"a server's dry run that a budget blocks",
			"without agents: a budget of Kubernetes' own blocks until --timeout",
		],
		apply: (outcome) => ({
			...outcome,
			stderr: outcome.stderr.map((line) =>
				line.replace(/(the pod's disruption budget\.)/, "$1 The disruption budget NAME ..."),
			),
		}),
	},
	{
		subject: "a pod that more than one PodDisruptionBudget selects",
		kubectl: "does not name the budgets",
		ours: "adds a line with the command that shows them",
		reason: "the API server does not name them either, and waiting does not help",
		situations: ["two budgets on one pod: the others are evicted"],
		apply: (outcome) => ({
			...outcome,
			stderr: [
				"more than one PodDisruptionBudget selects pod parity/web-0; see kubectl get poddisruptionbudgets -n parity --context CONTEXT",
				...outcome.stderr,
			],
		}),
	},
];

// Mutants of what the plugin does when a PodDisruptionBudget of the cluster refuses.
import type { Mutant } from "./mutant.ts";

export const nativeBudgetMutants: readonly Mutant[] = [
	{
		name: "two-native-budgets-are-tried-again",
		without: "failing a pod that two PodDisruptionBudgets select",
		scenarios: ["two-native-budgets"],
		edits: [
			{
				file: "plugin/evictions/send-eviction.ts",
				symbol: "refusalKind",
				find: '$message.includes("more than one PodDisruptionBudget")',
				replace: "false",
			},
		],
	},
];

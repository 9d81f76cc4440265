// Explains a budget for the key `e` of the budgets screen. Each time, the clusters are asked anew, so that no old answer suggests that an
// eviction is possible.
import type { BudgetName } from "../../disruption/budget/budget.ts";
import type { CommandInput } from "../flags/command.ts";
import { SuggestedCommands } from "../flags/suggested-commands.ts";
import { errorText } from "../kubernetes/api-error.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { runClock } from "../kubernetes/run-clock.ts";
import { explanationLines } from "../output/explanation-lines.ts";
import { helpfulCommands } from "../output/helpful-commands.ts";
import { explainNamedBudget } from "../plan/explain/explain-budget.ts";
import { viewFleet } from "../plan/explain/fleet-view.ts";

/** Lines may have any length. A failure is a line too. */
export async function explainForScreen(
	budget: BudgetName,
	contexts: readonly KubeContext[],
	{ globals }: Pick<CommandInput, "globals">,
): Promise<readonly string[]> {
	try {
		const view = await viewFleet(contexts);
		try {
			const explanation = await explainNamedBudget(view, budget, contexts, runClock);
			const suggest = new SuggestedCommands(globals);
			const commands = helpfulCommands(explanation, { context: contexts[0]?.name ?? "", suggest });
			return explanationLines(explanation, { columns: undefined, now: Date.now(), wide: false, commands });
		} finally {
			view.close();
		}
	} catch (error) {
		return [`Unknown (treated as no): ${error instanceof Error ? errorText(error) : String(error)}`];
	}
}

// Warns about suspended budgets that cover the pods of a run, once for each suspension: these pods go without a limit.
import { formatBudgetName } from "../../disruption/budget.ts";
import type { BudgetsOfMember } from "../../disruption/coverage-judgement.ts";
import type { RoundBudget } from "../../disruption/decide.ts";
import type { EventSink } from "../events/events.ts";
import { suspendedText } from "../events/suspension-text.ts";
import { suspensionOfAll } from "../fleet/budget-members.ts";

export class ToldSuspensions {
	readonly #emit: EventSink;
	readonly #wallClock: () => number;
	/** By the names of budgets. */
	readonly #told = new Map<string, string>();

	constructor({ emit, wallClock }: { readonly emit: EventSink; readonly wallClock: () => number }) {
		this.#emit = emit;
		this.#wallClock = wallClock;
	}

	/** `lists`: the budgets of the pod's namespace in all members, as they were last listed. */
	tell(covering: readonly RoundBudget[], lists: readonly BudgetsOfMember[]): void {
		for (const { name } of covering) {
			const suspended = suspensionOfAll(name, lists);
			if (!suspended) continue;
			const budget = formatBudgetName(name);
			const { suspension } = suspended;
			const text = JSON.stringify(suspended);
			if (this.#told.get(budget) === text) continue;
			this.#told.set(budget, text);
			this.#emit({
				type: "diagnostic",
				level: "warning",
				reason: "BudgetSuspended",
				budget,
				...(suspension && { suspension }),
				message: suspendedText(budget, suspension, this.#wallClock()),
			});
		}
	}
}

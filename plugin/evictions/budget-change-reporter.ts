// Reports the state of a budget if it differs from the last report.
import { formatBudgetName } from "../../disruption/budget/budget.ts";
import type { BudgetState } from "../../disruption/budget/allowance.ts";
import type { EventSink } from "../events/events.ts";

export class BudgetChangeReporter {
	readonly #emit: EventSink;
	/** By the names of budgets. */
	readonly #told = new Map<string, string>();

	constructor(emit: EventSink) {
		this.#emit = emit;
	}

	tell(states: readonly BudgetState[]): void {
		for (const { budget, ...state } of states) {
			const name = formatBudgetName(budget);
			const text = JSON.stringify(state);
			if (this.#told.get(name) === text) continue;
			this.#told.set(name, text);
			this.#emit({ type: "budget.changed", budget: name, ...state });
		}
	}

	/** Makes the next states count as new, even if they are unchanged. */
	forget(): void {
		this.#told.clear();
	}
}

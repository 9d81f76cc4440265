// What budgets come to, told when it is something else than was told last.
import { formatBudgetName } from "../../disruption/budget/budget.ts";
import type { BudgetState } from "../../disruption/budget/allowance.ts";
import type { EventSink } from "../events/events.ts";

export class ToldStates {
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

	/** The next ones are told even if they are the same. */
	forget(): void {
		this.#told.clear();
	}
}

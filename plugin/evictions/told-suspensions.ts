// Warns about suspended budgets that cover the pods of a run, once for each suspension. These pods are evicted without a limit.
import { formatBudgetName, type RoundBudget } from "../../disruption/budget/budget.ts";
import type { BudgetsOfMember } from "../../disruption/budget/coverage-judgement.ts";
import type { EventSink, RunEvent } from "../events/events.ts";
import { suspendedText } from "../events/suspension-text.ts";
import { suspensionOfAll } from "../fleet/budget-members.ts";
import type { Fleet } from "../fleet/fleet.ts";

interface Dependencies {
	readonly emit: EventSink;
	readonly wallClock: () => number;
}

export class ToldSuspensions {
	readonly #deps: Dependencies;
	readonly #fleet: Pick<Fleet, "listBudgets">;
	/** By the names of budgets. */
	readonly #told = new Map<string, string>();

	constructor(deps: Dependencies, fleet: Pick<Fleet, "listBudgets">) {
		this.#deps = deps;
		this.#fleet = fleet;
	}

	/** Takes the events of rounds. A round that counts a budget as suspended may be the first to know. */
	readonly emit = (event: RunEvent): void => {
		this.#deps.emit(event);
		if (event.type !== "budget.changed" || event.need !== undefined) return;
		const [namespace = "", name = ""] = event.budget.split("/");
		// This is only a warning. If a member gives no answer, the rounds report it.
		this.#fleet.listBudgets([namespace]).then(
			(lists) => this.tell([{ name: { namespace, name } }], lists),
			() => undefined,
		);
	};

	/** `lists` are the budgets of the namespace in all members, as last listed. */
	tell(covering: readonly Pick<RoundBudget, "name">[], lists: readonly BudgetsOfMember[]): void {
		for (const { name } of covering) {
			const suspended = suspensionOfAll(name, lists);
			if (!suspended) continue;
			const budget = formatBudgetName(name);
			const { suspension } = suspended;
			const text = JSON.stringify(suspended);
			if (this.#told.get(budget) === text) continue;
			this.#told.set(budget, text);
			this.#deps.emit({
				type: "diagnostic",
				level: "warning",
				reason: "BudgetSuspended",
				budget,
				...(suspension && { suspension }),
				message: suspendedText(budget, suspension, this.#deps.wallClock()),
			});
		}
	}
}

// Warns about suspended budgets that cover the pods of a run, once for each suspension. A suspended budget limits no eviction. A run warns
// before it asks whether to continue, and again when its evictions find another suspension.
import type { V1Pod } from "@kubernetes/client-node";
import { formatBudgetName, type RoundBudget } from "../../disruption/budget/budget.ts";
import { type BudgetsOfMember, findCovering } from "../../disruption/budget/coverage-judgement.ts";
import type { EventSink } from "../events/events.ts";
import { suspendedText } from "../events/suspension-text.ts";
import { suspensionOfAll } from "../fleet/budget-members.ts";
import type { Fleet } from "../fleet/fleet.ts";

interface Dependencies {
	readonly emit: EventSink;
	readonly wallClock: () => number;
}

export class ToldSuspensions {
	readonly #deps: Dependencies;
	readonly #told = new Map<string, string>();

	constructor(deps: Dependencies) {
		this.#deps = deps;
	}

	/** Returns the event sink for rounds. A round may be the first to notice a suspended budget, whose counts have no `need`. */
	sinkOf(fleet: Pick<Fleet, "listBudgets">): EventSink {
		return (event) => {
			this.#deps.emit(event);
			if (event.type !== "budget.changed" || event.need !== undefined) return;
			const [namespace = "", name = ""] = event.budget.split("/");
			// This is only a warning. If a member gives no answer, the rounds report it.
			fleet.listBudgets([namespace]).then(
				(lists) => this.tell([{ name: { namespace, name } }], lists),
				() => undefined,
			);
		};
	}

	/** `lists` has the budgets of the pods' namespaces in all members. */
	tellOfPods(pods: readonly V1Pod[], lists: readonly BudgetsOfMember[]): void {
		const budgets = lists.flatMap((member) => member.budgets);
		const covering = pods.flatMap(
			({ metadata: { namespace = "", labels = {} } = {} }) => findCovering(budgets, { namespace, labels }).budgets,
		);
		this.tell(covering, lists);
	}

	/**
	 * Warns about the `covering` budgets that all members suspend. `lists` has the budgets of the namespace in all members, as last listed.
	 */
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

// Reports the suspended budgets of a run's pods before the run asks whether to continue, because these pods are evicted without a limit.
// The evictions report a suspension when they meet it. Suspensions that were already reported are left out of their events.
import type { V1Pod } from "@kubernetes/client-node";
import { type BudgetsOfMember, findCovering } from "../../disruption/budget/coverage-judgement.ts";
import type { EventSink, RunEvent } from "../events/events.ts";
import { ToldSuspensions } from "../evictions/told-suspensions.ts";

export class ForetoldSuspensions {
	readonly #emit: EventSink;
	readonly #wallClock: () => number;
	/** Suspensions that were reported here and that the evictions have not met yet. */
	readonly #told = new Set<string>();

	constructor(emit: EventSink, wallClock: () => number) {
		this.#emit = emit;
		this.#wallClock = wallClock;
	}

	/** `lists`: the budgets of the pods' namespaces in all members. */
	tell(pods: readonly V1Pod[], lists: readonly BudgetsOfMember[]): void {
		const budgets = lists.flatMap((member) => member.budgets);
		const covering = pods.flatMap(
			({ metadata: { namespace = "", labels = {} } = {} }) => findCovering(budgets, { namespace, labels }).budgets,
		);
		const emit = (event: RunEvent): void => {
			const suspension = suspensionIn(event);
			if (suspension !== undefined) this.#told.add(suspension);
			this.#emit(event);
		};
		const telling = new ToldSuspensions({ emit, wallClock: this.#wallClock }, { listBudgets: async () => lists });
		telling.tell(covering, lists);
	}

	/** The event sink for the evictions. */
	readonly emit: EventSink = (event) => {
		const suspension = suspensionIn(event);
		if (suspension === undefined || !this.#told.delete(suspension)) this.#emit(event);
	};
}

/** Identifies the suspension. Its text cannot, because it also says for how long. */
function suspensionIn(event: RunEvent): string | undefined {
	if (event.type !== "diagnostic" || event.reason !== "BudgetSuspended") return undefined;
	return JSON.stringify([event.budget, event.suspension]);
}
